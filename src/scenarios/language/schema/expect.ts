import { z } from 'zod';
import { parseMethods, unknownName } from '../names';
import { parseCount } from '../numbers';
import { failed, failure, type Parsed } from '../parsed';
import { parsePatterns } from '../patterns';
import { CODE_NAMES } from '../sequence';
import { didYouMean } from '../suggest';
import {
  duration,
  expected,
  flag,
  nameOf,
  parsedBy,
  patternSources,
  patterns,
  positiveDuration,
  shape,
  text,
  whole,
} from './base';
import { methods, pod, services, volume } from './match';
import { share } from './when';

const answer = parsedBy(patternSources, (sources) => {
  const parsed = parsePatterns(sources);
  if (failed(parsed)) return parsed;
  const names = [...CODE_NAMES, 'OK'];
  const unknown = unknownName(parsed.value.patterns, names);
  return unknown === undefined
    ? parsed
    : failure(`unknown status code "${unknown}"${didYouMean(unknown, names)}`);
});

/** A volume by a pattern of its id, or as a rule matches one. */
const anyVolume = z.union([parsedBy(text('a volume'), (source) => byId(source)), volume], {
  error: expected('a map such as {pvc: {name: "data-*"}}'),
});

function byId(source: string): Parsed<z.output<typeof volume>> {
  const parsed = parsePatterns([source]);
  return failed(parsed) ? parsed : { value: { id: parsed.value } };
}

const selectorKeys = {
  rpc: methods.optional(),
  service: services.optional(),
  node: patterns.optional(),
  volume: anyVolume.optional(),
  pod: pod.optional(),
  code: answer.optional(),
  message: patterns.optional(),
};

const selectorShape = shape(
  { ...selectorKeys, fired: patterns.optional() },
  'an RPC such as NodeStageVolume, or a map such as {rpc: NodeStageVolume, code: OK}',
);

export type SelectorInput = z.output<typeof selectorShape>;

const selector = z.union(
  [
    parsedBy(text('an RPC such as NodeStageVolume'), (source): Parsed<SelectorInput> => {
      const parsed = parseMethods([source]);
      return failed(parsed) ? parsed : { value: { rpc: parsed.value } };
    }),
    selectorShape,
  ],
  { error: expected('an RPC such as NodeStageVolume, or a map such as {rpc: NodeStageVolume, code: OK}') },
);

const count = parsedBy(
  z.union([z.number(), z.string()], { error: expected('a count such as ">=2"') }),
  parseCount,
);

const optional = { optional: flag.optional() };
const since = { since: text('a mark or an event').optional(), after: text('a mark or an event').optional() };
const inline = { ...selectorKeys, fired: patterns.optional() };
const elsewhere = z.unknown();

/** One shape for each key that says what is expected. Of several such keys in one item the first here is the kind. */
export const expectationKinds = {
  count: shape({ count, within: positiveDuration.optional(), ...since, ...inline, ...optional }),
  never: shape({
    never: selector,
    for: positiveDuration.optional(),
    until: selector.optional(),
    ...since,
    ...inline,
    ...optional,
  }),
  order: shape({
    order: z
      .array(selector, { error: expected('a list of RPCs') })
      .min(2, { error: () => 'expected two RPCs or more' }),
    ...optional,
  }),
  gap: shape({
    gap: shape(
      {
        ...inline,
        ratio: z
          .number({ error: expected('a number such as 2') })
          .positive({ error: expected('a number such as 2') })
          .optional(),
        tolerance: share.optional(),
        min: duration.optional(),
        max: duration.optional(),
      },
      'a map such as {rpc: NodeStageVolume, ratio: 2}',
    ),
    ...optional,
  }),
  overlap: shape({ overlap: nameOf(['none'], 'none'), ...inline, ...optional }),
  idempotent: shape({ idempotent: selector, ...inline, ...optional }),
  eventually: shape({
    eventually: shape(
      {
        volume: anyVolume.optional(),
        state: nameOf(
          ['created', 'attached', 'staged', 'published', 'deleted', 'healed', 'active'],
          'created, attached, staged, published or deleted',
        ).optional(),
        writable: flag.optional(),
        registration: nameOf(
          ['registered', 'refused', 'withdrawn'],
          'registered, refused or withdrawn',
        ).optional(),
        fault: text('the name of a live fault').optional(),
      },
      'a map such as {volume: "*", state: published}',
    ),
    within: positiveDuration.optional(),
    ...optional,
  }),
  leak: shape({
    leak: shape(
      { loops: whole(0).optional(), mounts: whole(0).optional(), frozen: whole(0).optional() },
      'a map such as {loops: 0, mounts: 0}',
    ),
    when: nameOf(['end'], 'end').optional(),
    ...optional,
  }),
  event: z.looseObject({ event: elsewhere, ...optional }),
  probe: z.looseObject({ probe: elsewhere, ...optional }),
  podCondition: z.looseObject({ podCondition: elsewhere, ...optional }),
  fired: shape({
    fired: shape(
      { rule: text('the name of a rule'), times: count.optional() },
      'a map such as {rule: slow, times: ">=1"}',
    ),
    ...optional,
  }),
};

export type ExpectationKind = keyof typeof expectationKinds;
export type ExpectationInput = {
  [Kind in ExpectationKind]: { kind: Kind; value: z.output<(typeof expectationKinds)[Kind]> };
}[ExpectationKind];

export const anyExpectation = z.union(
  Object.values(expectationKinds) as unknown as [z.ZodType, ...z.ZodType[]],
);
