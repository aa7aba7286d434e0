import { z } from 'zod';
import { parseDuration } from '../durations';
import { failed } from '../parsed';
import { parseSequence } from '../sequence';
import {
  expected,
  flag,
  listOf,
  mapOf,
  parsedBy,
  positiveDuration,
  scalarText,
  shape,
  text,
  whole,
} from './base';
import { anyExpectation } from './expect';
import { expression, match } from './match';
import { step, thenSteps } from './steps';
import { when } from './when';

export const API_VERSION = 'fake-csi/v1';
export const KIND = 'Scenario';
export const EXPECTATIONS_KIND = 'Expectations';

/** As a Kubernetes name: it is written into StorageClasses and names files. */
const scenarioName = text('a name')
  .max(63, { error: () => 'expected a name of at most 63 characters' })
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, {
    error: expected('a name of small letters, digits and "-" such as slow-attach'),
  });

const ruleName = text('a name')
  .max(63, { error: () => 'expected a name of at most 63 characters' })
  .regex(/^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$/, {
    error: expected('a name of letters, digits, "-", "_" and "." such as slow'),
  });

const sequence = parsedBy(text('a sequence such as "2*UNAVAILABLE -> ok"'), (source) => {
  const parsed = parseSequence(source);
  return failed(parsed) ? parsed : { value: { source, stages: parsed.value } };
}).meta({
  description:
    'Stages [p%][n*]task[(argument)] joined by ->, such as 2*UNAVAILABLE(busy) -> 1*delay(20s) -> ok.',
});

const integer = z.number({ error: expected('a whole number') }).int({ error: expected('a whole number') });

export const rule = shape(
  {
    name: ruleName.optional(),
    priority: integer.optional(),
    continue: flag.optional(),
    destructive: flag.optional(),
    match: match.optional(),
    when: when.optional(),
    // biome-ignore lint/suspicious/noThenProperty: the language's own word, in a map that is never awaited.
    then: thenSteps.optional(),
    sequence: sequence.optional(),
  },
  'a rule such as {match: {rpc: NodeStageVolume}, then: [{delay: 5s}]}',
  new Map([
    ...Object.keys(match.shape).map((key) => [key, 'match'] as const),
    ...Object.keys(step.shape).map((key) => [key, 'then'] as const),
    ...Object.keys(when.shape).map((key) => [key, 'when'] as const),
  ]),
);

export type RuleInput = z.output<typeof rule>;

const maxHang = parsedBy(text('a duration such as 90s'), (value) => {
  const parsed = parseDuration(value);
  return !failed(parsed) && parsed.value === 0 ? { message: 'expected more than 0s' } : parsed;
});

const limits = shape({
  maxFired: whole(1).optional(),
  maxActive: whole(1).optional(),
  maxVolumes: whole(1).optional(),
  maxHang: maxHang.optional(),
  allowDestructive: flag.optional(),
  stopIf: z
    .union([expression, listOf(expression, 'a list of expressions')], {
      error: expected('an expression such as "node.fsFreePct < 5"'),
    })
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional(),
});

const machine = shape({ initial: text('the name of a state') }, 'a map such as {initial: pending}');

const live = z
  .unknown()
  .transform((value, context) => {
    if (Array.isArray(value) && value.length === 0) return undefined;
    context.addIssue({ code: 'custom', message: 'live faults are not available in this version' });
    return z.NEVER;
  })
  .optional();

/** Rules and expectations are parsed one by one, so that what is wrong in one hides nothing of the others. */
function document<Rule extends z.ZodType, Item extends z.ZodType>(rule: Rule, item: Item) {
  return shape({
    apiVersion: z.literal(API_VERSION, { error: expected(API_VERSION) }),
    kind: z.literal(KIND, { error: expected(KIND) }),
    metadata: shape(
      {
        name: scenarioName,
        labels: mapOf(scalarText, 'a map of labels').optional(),
      },
      'a map such as {name: slow-attach}',
    ),
    spec: shape(
      {
        seed: integer.optional(),
        enabled: flag.optional(),
        expires: positiveDuration.optional(),
        discreet: flag.optional(),
        limits: limits.optional(),
        rules: z.array(rule, { error: expected('a list of rules') }).optional(),
        live,
        machines: mapOf(machine, 'a map such as {attach: {initial: pending}}').optional(),
        expect: z.array(item, { error: expected('a list of expectations') }).optional(),
      },
      'a map with rules or expect',
    ),
  });
}

export const scenarioDocument = document(z.unknown(), z.unknown());
export type ScenarioInput = z.output<typeof scenarioDocument>;

/** The same with everything in it: what the JSON Schema describes. */
export const wholeDocument = document(rule, anyExpectation);
