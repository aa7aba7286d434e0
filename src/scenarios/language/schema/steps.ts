import { z } from 'zod';
import { Code, type CodeName } from '../../../csi/status';
import type { Delay, DiskCondition, ProcessAct, RegistrationAct } from '../../model';
import { parseDuration } from '../durations';
import { parseTemplate } from '../expression';
import { failed, failure, type Parsed } from '../parsed';
import { CODE_NAMES, parseHangEnd } from '../sequence';
import { show } from '../show';
import { didYouMean } from '../suggest';
import { duration, expected, mapOf, parsedBy, positiveDuration, shape, text } from './base';
import { share } from './when';

const fixed = parsedBy(text('a duration such as 5s'), (value): Parsed<Delay> => {
  const parsed = parseDuration(value);
  return failed(parsed) ? parsed : { value: { kind: 'fixed', ms: parsed.value } };
});

const pair = z
  .tuple([duration, duration], { error: expected('two durations such as [1s, 5s]') })
  .refine(([from, to]) => from <= to, { error: 'expected the shorter duration first' });

const lognormal = shape({
  median: positiveDuration,
  sigma: z
    .number({ error: expected('a number such as 0.6') })
    .positive()
    .max(10),
});

const shaped = shape(
  {
    uniform: pair.optional(),
    lognormal: lognormal.optional(),
    max: positiveDuration.optional(),
    ramp: z
      .array(duration, { error: expected('a list of durations') })
      .min(1, { error: expected('a list of durations') })
      .optional(),
    every: positiveDuration.optional(),
  },
  'a duration, or a map with uniform, lognormal or ramp',
).transform((value, context): Delay => {
  const { uniform, lognormal: normal, max, ramp, every } = value;
  const kinds = [uniform, normal, ramp].filter((kind) => kind !== undefined);
  const refuse = (message: string): Delay => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (kinds.length !== 1) return refuse('expected exactly one of uniform, lognormal and ramp');
  if (max !== undefined && normal === undefined) return refuse('max belongs to lognormal');
  if ((every === undefined) !== (ramp === undefined)) return refuse('ramp and every belong together');
  if (uniform !== undefined) return { kind: 'uniform', fromMs: uniform[0], toMs: uniform[1] };
  if (normal !== undefined)
    return { kind: 'lognormal', medianMs: normal.median, sigma: normal.sigma, maxMs: max };
  return { kind: 'ramp', stepsMs: ramp ?? [], everyMs: every ?? 0 };
});

const delay = z.union([fixed, shaped], {
  error: expected('a duration such as 5s, or a map with uniform, lognormal or ramp'),
});

export const code = parsedBy(
  z.union([z.string(), z.number()], { error: expected('a status code such as UNAVAILABLE') }),
  (value): Parsed<CodeName> => {
    if (value === 'OK' || value === 0)
      return failure('OK is no error: use at: instead with respond, or the task ok');
    const name = typeof value === 'number' ? Code[value] : CODE_NAMES.find((known) => known === value);
    if (name !== undefined) return { value: name as CodeName };
    return failure(
      typeof value === 'number'
        ? `expected a status code from 1 to 16, found ${value}`
        : `unknown status code ${show(value)}${didYouMean(value, CODE_NAMES)}`,
    );
  },
).meta({ description: 'A status code by name, or 1 to 16.', names: CODE_NAMES });

export const message = parsedBy(text('a message'), parseTemplate).meta({
  description: `What the client is told; $\{expression} puts in a value, such as $\{volume.id}.`,
});

const error = z.union(
  [
    code.transform((name) => ({ code: name, message: undefined })),
    shape({ code, message: message.optional() }, 'a map such as {code: UNAVAILABLE, message: busy}'),
  ],
  { error: expected('a map such as {code: UNAVAILABLE, message: busy}') },
);

const hangEnd = parsedBy(text('deadline, release or a duration such as 60s'), parseHangEnd);

const hang = z.union(
  [
    hangEnd,
    shape({ until: hangEnd.optional() }, 'a map such as {until: deadline}').transform(
      (value) => value.until ?? ({ kind: 'deadline' } as const),
    ),
  ],
  { error: expected('deadline, release, a duration or a map such as {until: release}') },
);

const PLAIN_CONDITIONS = [
  'missing',
  'blank',
  'corruptSuperblock',
  'dirtyLog',
  'duplicateUuid',
  'readOnlyDevice',
] as const;
const CONDITIONS = [...PLAIN_CONDITIONS, 'foreignFs', 'truncated'];
const FOREIGN = ['ext4', 'xfs', 'btrfs', 'vfat', 'swap'] as const;

const disk = z.union(
  [
    parsedBy(text('a condition such as missing'), (name): Parsed<DiskCondition> => {
      const kind = PLAIN_CONDITIONS.find((known) => known === name);
      if (kind !== undefined) return { value: { kind } };
      if (name === 'foreignFs') return failure('foreignFs needs a filesystem: {foreignFs: xfs}');
      if (name === 'truncated') return failure('truncated needs what is left: {truncated: 50%}');
      return failure(`unknown disk condition ${show(name)}${didYouMean(name, CONDITIONS)}`);
    }),
    shape(
      {
        ...(Object.fromEntries(
          PLAIN_CONDITIONS.map((name) => [name, z.literal(true, { error: expected('true') }).optional()]),
        ) as Record<(typeof PLAIN_CONDITIONS)[number], z.ZodOptional<z.ZodLiteral<true>>>),
        foreignFs: z
          .enum(FOREIGN, {
            error: (issue) =>
              `expected ext4, xfs, btrfs, vfat or swap, found ${show(issue.input)}${didYouMean(String(issue.input), FOREIGN)}`,
          })
          .optional(),
        truncated: share.optional(),
      },
      'a condition such as missing, or a map such as {foreignFs: xfs}',
    ).transform((value, context): DiskCondition => {
      const [kind, ...others] = Object.keys(value) as (keyof typeof value)[];
      if (kind === undefined || others.length > 0) {
        context.addIssue({ code: 'custom', message: 'expected exactly one condition of a disk' });
        return z.NEVER;
      }
      if (kind === 'foreignFs') return { kind, fsType: value.foreignFs ?? 'xfs' };
      if (kind === 'truncated') return { kind, keep: value.truncated ?? 0 };
      return { kind };
    }),
  ],
  { error: expected('a condition such as missing, or a map such as {foreignFs: xfs}') },
);

const process = shape(
  {
    exit: z
      .number({ error: expected('an exit code from 0 to 255') })
      .int({ error: expected('an exit code from 0 to 255') })
      .min(0, { error: expected('an exit code from 0 to 255') })
      .max(255, { error: expected('an exit code from 0 to 255') })
      .optional(),
    stopFor: positiveDuration.optional(),
    closeSocket: z
      .union([z.literal(true), positiveDuration], { error: expected('true or a duration') })
      .optional(),
  },
  'a map such as {exit: 137}',
).transform((value, context): ProcessAct => {
  const { exit, stopFor, closeSocket } = value;
  if (Object.keys(value).length !== 1) {
    context.addIssue({ code: 'custom', message: 'expected exactly one of exit, stopFor and closeSocket' });
    return z.NEVER;
  }
  if (exit !== undefined) return { kind: 'exit', code: exit };
  if (stopFor !== undefined) return { kind: 'stop', forMs: stopFor };
  return { kind: 'closeSocket', forMs: closeSocket === true ? undefined : closeSocket };
});

const REGISTRATION_ACTS = ['unregister', 'second', 'dead', 'silent'] as const;

const registration = shape(
  {
    ...(Object.fromEntries(
      REGISTRATION_ACTS.map((name) => [name, z.literal(true, { error: expected('true') }).optional()]),
    ) as Record<(typeof REGISTRATION_ACTS)[number], z.ZodOptional<z.ZodLiteral<true>>>),
    for: positiveDuration.optional(),
  },
  'a map such as {unregister: true, for: 15s}',
).transform(({ for: forMs, ...acts }, context): RegistrationAct => {
  const [kind, ...others] = REGISTRATION_ACTS.filter((name) => acts[name] !== undefined);
  if (kind === undefined || others.length > 0) {
    context.addIssue({
      code: 'custom',
      message: 'expected exactly one of unregister, second, dead and silent',
    });
    return z.NEVER;
  }
  return { kind, forMs };
});

/** Of a part of the language that another version brings: never ignored. */
const unavailable = (what: string) =>
  z
    .unknown()
    .transform((_, context): never => {
      context.addIssue({ code: 'custom', message: `${what} not available in this version` });
      return z.NEVER;
    })
    .optional();

export const step = shape(
  {
    at: text('before, instead, after or a named point').optional(),
    delay: delay.optional(),
    error: error.optional(),
    hang: hang.optional(),
    set: mapOf(z.unknown(), 'a map of paths such as {request.readonly: true}').optional(),
    respond: shape(
      { merge: mapOf(z.unknown(), 'a map of fields of the answer') },
      'a map such as {merge: {}}',
    ).optional(),
    disk: disk.optional(),
    process: process.optional(),
    goto: mapOf(text('the name of a state'), 'a map such as {attach: done}').optional(),
    live: unavailable('live faults are'),
    registration: registration.optional(),
  },
  'a step such as {delay: 5s}',
);

export const thenSteps = z.array(step, { error: expected('a list of steps') });

export type StepInput = z.output<typeof step>;
