import { Cron } from 'croner';
import { z } from 'zod';
import type { After } from '../../model';
import { parseDuration } from '../durations';
import { EVENTS } from '../names';
import { parseOrdinals, parseShare } from '../numbers';
import { failed, failure } from '../parsed';
import { quote } from '../show';
import { didYouMean } from '../suggest';
import {
  duration,
  expected,
  listOf,
  mapOf,
  nameOf,
  parsedBy,
  positiveDuration,
  shape,
  text,
  whole,
} from './base';

const ordinal = z.union([z.number(), z.string()], { error: expected('a call number such as 1') });

const nth = parsedBy(
  z.union([ordinal, z.array(ordinal)], { error: expected('a call number such as 3, "3.." or [1, 2]') }),
  parseOrdinals,
);

export const share = parsedBy(
  z.union([z.number(), z.string()], { error: expected('a share such as 0.5 or 50%') }),
  parseShare,
);

function eventOf(name: string): NonNullable<After['event']> | undefined {
  if (name.startsWith('fired:') && name.length > 6) return name as `fired:${string}`;
  return EVENTS.find((known) => known === name);
}

const event = parsedBy(text('an event such as published'), (name) => {
  const named = eventOf(name);
  if (named !== undefined) return { value: named };
  return failure(
    `unknown event ${quote(name)}${didYouMean(name, EVENTS)}: expected ${EVENTS.join(', ')} or fired:RULE`,
  );
});

const afterEvent = shape(
  { event: event.optional(), delay: duration.optional() },
  'a map such as {event: published, delay: 10s}',
);

const after = z.union(
  [
    parsedBy(text('a duration such as 30s'), (value) => {
      const parsed = parseDuration(value);
      if (!failed(parsed)) return { value: { event: undefined, delayMs: parsed.value } as After };
      const named = eventOf(value);
      return named === undefined ? parsed : { value: { event: named, delayMs: 0 } as After };
    }),
    afterEvent.transform((value): After => ({ event: value.event, delayMs: value.delay ?? 0 })),
  ],
  { error: expected('a duration such as 30s or a map such as {event: published, delay: 10s}') },
);

const cron = parsedBy(text('a cron pattern such as "*/5 * * * *"'), (pattern) => {
  const refusal = failure(
    `expected a cron pattern of five fields such as "*/5 * * * *", found ${quote(pattern)}`,
  );
  if (pattern.trim().split(/\s+/).length !== 5) return refusal;
  try {
    // From a day in which every date of a leap year is still to come.
    const next = new Cron(pattern, { paused: true, timezone: 'UTC' }).nextRun('2024-01-01T00:00:00Z');
    return next === null ? failure(`the time that ${quote(pattern)} names never comes`) : { value: pattern };
  } catch {
    return refusal;
  }
});

const window = shape(
  {
    up: duration.optional(),
    down: duration.optional(),
    cron: cron.optional(),
    for: positiveDuration.optional(),
  },
  'a map such as {up: 50s, down: 10s}',
).transform((value, context) => {
  const { up, down, cron: pattern, for: length } = value;
  if (up !== undefined && down !== undefined && pattern === undefined && length === undefined)
    return { kind: 'duty' as const, upMs: up, downMs: down };
  if (pattern !== undefined && length !== undefined && up === undefined && down === undefined)
    return { kind: 'cron' as const, cron: pattern, forMs: length };
  context.addIssue({ code: 'custom', message: 'expected either up and down, or cron and for' });
  return z.NEVER;
});

const state = text('the name of a state');

export const when = shape(
  {
    per: nameOf(['rule', 'volume', 'pod', 'node'], 'rule, volume, pod or node').optional(),
    nth: nth.optional(),
    every: whole(1).optional(),
    skip: whole(0).optional(),
    times: whole(1).optional(),
    probability: share.optional(),
    after: after.optional(),
    window: window.optional(),
    machine: mapOf(
      z
        .union([state, listOf(state, 'a list of states')], { error: expected('a state or a list of states') })
        .transform((value) => (Array.isArray(value) ? value : [value])),
      'a map such as {attach: pending}',
    ).optional(),
  },
  'a map such as {per: volume, times: 2}',
);

export type WhenInput = z.output<typeof when>;
