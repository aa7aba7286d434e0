/* Compiled by `npm run typecheck` and never run: the hand-written types have the keys of the schema, no more, no fewer. */
import type { z } from 'zod';
import type {
  ExpectationSpec,
  LimitsSpec,
  MatchSpec,
  PodSpec,
  ProcessSpec,
  RuleSpec,
  ScenarioSpec,
  StepSpec,
  VolumeSpec,
  WhenSpec,
} from '../../src';
import type { rule, wholeDocument } from '../../src/scenarios/language/schema/document';
import type { expectationKinds } from '../../src/scenarios/language/schema/expect';
import type { match, pod, volume } from '../../src/scenarios/language/schema/match';
import type { step } from '../../src/scenarios/language/schema/steps';
import type { when } from '../../src/scenarios/language/schema/when';

/** Of every member of a union. Where a text is allowed too (delay, disk), the schema's own type is `unknown`: see rules.test.ts. */
type Keys<T> = T extends object ? keyof T : never;
type Same<A, B> = [A] extends [B]
  ? [B] extends [A]
    ? true
    : { surplus: Exclude<B, A> }
  : { missing: Exclude<A, B> };

type Input<T extends z.ZodType> = z.input<T>;
type Document = Input<typeof wholeDocument>;
type Kinds = typeof expectationKinds;
/** What needs more than a driver is for files only. */
type Elsewhere = 'event' | 'probe' | 'podCondition';
type ExpectationKeys = { [K in Exclude<keyof Kinds, Elsewhere>]: keyof Input<Kinds[K]> }[Exclude<
  keyof Kinds,
  Elsewhere
>];
/** Refused in this version. */
type Refused = 'live';

type Eventually = Extract<ExpectationSpec, { eventually: object }>['eventually'];
type Gap = Extract<ExpectationSpec, { gap: object }>['gap'];

export const same: [
  Same<keyof Input<typeof match>, Keys<MatchSpec>>,
  Same<Exclude<keyof Input<typeof volume>, never>, Keys<VolumeSpec>>,
  Same<keyof Input<typeof pod>, Keys<PodSpec>>,
  Same<keyof Input<typeof when>, Keys<WhenSpec>>,
  Same<Exclude<keyof Input<typeof step>, Refused>, Keys<StepSpec>>,
  Same<keyof Input<typeof rule>, Keys<RuleSpec>>,
  Same<keyof Document, Keys<ScenarioSpec>>,
  Same<Exclude<keyof Document['spec'], Refused>, Keys<ScenarioSpec['spec']>>,
  Same<keyof NonNullable<Document['spec']['limits']>, Keys<LimitsSpec>>,
  Same<ExpectationKeys, Keys<ExpectationSpec>>,
  Same<Exclude<keyof Input<Kinds['eventually']>['eventually'], 'writable' | 'fault'>, Keys<Eventually>>,
  Same<keyof Input<Kinds['gap']>['gap'], Keys<Gap>>,
  Same<Keys<NonNullable<Input<typeof step>['process']>>, Keys<ProcessSpec>>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true];
