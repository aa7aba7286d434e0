import type { Method, ServiceName } from '../../csi/rpcs';
import type { PodMatch, VolumeMatch, VolumeState } from './match';
import type { Patterns } from './pattern';
import type { Position } from './scenario';

/** One line of `spec.expect`. */
export type Expectation = ExpectationBase & ExpectationTest;

export interface ExpectationBase {
  /** As written, on one line: what reports name it. */
  readonly source: string;
  readonly at: Position;
  /** Does not fail the verdict. */
  readonly optional: boolean;
}

/** Calls that an expectation is about. */
export interface CallSelector {
  readonly methods: ReadonlySet<Method> | undefined;
  readonly service: readonly ServiceName[] | undefined;
  readonly node?: Patterns;
  readonly volume?: VolumeMatch;
  readonly pod?: PodMatch;
  /** Names of codes, OK among them. */
  readonly code?: Patterns;
  readonly message?: Patterns;
  /** `scenario/rule` or `rule`. */
  readonly fired?: Patterns;
}

export interface CountTest {
  readonly source: string;
  test(count: number): boolean;
  /** Whether a later call can still make it true (`>=2`) or make it false (`<=2`). */
  readonly canGrowTrue: boolean;
}

export type RegistrationOutcome = 'registered' | 'refused' | 'withdrawn';

export type ExpectationTest =
  | {
      readonly kind: 'count';
      readonly calls: CallSelector;
      readonly count: CountTest;
      readonly withinMs: number | undefined;
      /** A mark, or an event such as `podDeleted`, before which nothing counts. */
      readonly since: string | undefined;
    }
  | {
      readonly kind: 'never';
      readonly calls: CallSelector;
      readonly forMs: number | undefined;
      readonly until: CallSelector | undefined;
      readonly since: string | undefined;
    }
  /** For every volume: the first of each of these calls that answered OK come in this order. */
  | { readonly kind: 'order'; readonly calls: readonly CallSelector[] }
  | {
      readonly kind: 'gap';
      readonly calls: CallSelector;
      /** Of one gap to the one before. */
      readonly ratio: number | undefined;
      /** 0 to 1, of the ratio. */
      readonly tolerance: number;
      readonly minMs: number | undefined;
      readonly maxMs: number | undefined;
    }
  /** No two of these calls in flight for one volume at once. */
  | { readonly kind: 'overlap'; readonly calls: CallSelector }
  /** Calls with equal requests that answered OK gave equal answers. */
  | { readonly kind: 'idempotent'; readonly calls: CallSelector }
  | {
      readonly kind: 'eventually';
      readonly volume: VolumeMatch | undefined;
      readonly state: VolumeState | 'deleted' | undefined;
      readonly withinMs: number | undefined;
    }
  /** The kubelet's last word on the driver, or that of a driver that no kubelet is to see. */
  | {
      readonly kind: 'registration';
      readonly state: RegistrationOutcome;
      readonly withinMs: number | undefined;
    }
  | {
      readonly kind: 'leak';
      readonly loops: number | undefined;
      readonly mounts: number | undefined;
      readonly frozen: number | undefined;
    }
  | { readonly kind: 'fired'; readonly rule: string; readonly times: CountTest }
  /** Asks for something that this machine does not have; `why` says what. Fails unless it is optional. */
  | { readonly kind: 'unavailable'; readonly why: string };
