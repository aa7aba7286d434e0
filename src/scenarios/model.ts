import type { Method, ServiceName } from '../csi/rpcs';
import type { CodeName } from '../csi/status';

/**
 * A scenario as the engine and the verdict work with it: everything resolved, every default filled in, every pattern
 * compiled. scenarios/language makes it from YAML; docs/scenarios.md describes what people write.
 */
export interface Scenario {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Every draw is a function of this, the rule's name, the key of its counter and the ordinal there. */
  readonly seed: number;
  /** Armed when it is loaded. One that is not still acts on volumes that name it. */
  readonly enabled: boolean;
  /** Milliseconds after it was armed at which it disarms itself and lets go of what it holds. */
  readonly expiresMs: number | undefined;
  /** Injected errors do not name the scenario. */
  readonly discreet: boolean;
  readonly limits: Limits;
  readonly rules: readonly Rule[];
  readonly machines: Readonly<Record<string, { readonly initial: string }>>;
  readonly expect: readonly Expectation[];
}

export interface Limits {
  /** Fires of all rules together. */
  readonly maxFired: number | undefined;
  /** Calls that are delayed or hung at one moment. */
  readonly maxActive: number | undefined;
  /** Different volumes that rules fired on. */
  readonly maxVolumes: number | undefined;
  /** Longest hang, in milliseconds. */
  readonly maxHangMs: number | undefined;
  readonly allowDestructive: boolean;
  /** When one of them is true the scenario disarms itself. */
  readonly stopIf: readonly Expression[];
}

/** One line of a file, counted from 1, for messages about what was loaded from there. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Rule {
  readonly name: string;
  readonly at: Position;
  /** Higher first; among equals the order of the file. The first that fires ends the search. */
  readonly priority: number;
  /** The search goes on after it fired. */
  readonly continue: boolean;
  /** It may destroy the data of the volumes it fires on. */
  readonly destructive: boolean;
  readonly match: Match;
  readonly when: When;
  /**
   * What happens, in order. For one key the first stage with fires left whose chance comes true acts; when none does,
   * the rule does not fire. `then:` gives one stage without a count, `sequence:` gives as many as it says.
   */
  readonly stages: readonly Stage[];
}

export interface Stage {
  /** Fires of this stage for one key; undefined: no end. */
  readonly count: number | undefined;
  /** 0 to 1; undefined: always. */
  readonly probability: number | undefined;
  /** In the order they are done. Empty: `ok`, nothing is done to the call, and it counts as a fire. */
  readonly steps: readonly Step[];
}

/**
 * Where in a call a step is taken.
 * `before`: without a lock, before validation; ends at the client's deadline, and then nothing was done.
 * `instead`: as `before`, and the work is not done at all.
 * `after`: the work is done and only the answer is left.
 * Anything else is a point inside the work (POINTS): the volume's own lock is held, and the client's leaving does not
 * end it, as with a driver that is busy.
 */
export type Place = 'before' | 'instead' | 'after' | (string & {});

export interface Step {
  readonly place: Place;
  readonly action: Action;
}

export type Action =
  | { readonly kind: 'delay'; readonly delay: Delay }
  | { readonly kind: 'error'; readonly code: CodeName; readonly message: Template }
  | { readonly kind: 'hang'; readonly until: HangEnd }
  | { readonly kind: 'set'; readonly fields: readonly FieldChange[] }
  | { readonly kind: 'respond'; readonly merge: Readonly<Record<string, unknown>> }
  | { readonly kind: 'disk'; readonly condition: DiskCondition }
  | { readonly kind: 'process'; readonly act: ProcessAct }
  | { readonly kind: 'registration'; readonly act: RegistrationAct }
  | { readonly kind: 'goto'; readonly machine: string; readonly state: string };

export type Delay =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'uniform'; readonly fromMs: number; readonly toMs: number }
  | {
      readonly kind: 'lognormal';
      readonly medianMs: number;
      readonly sigma: number;
      readonly maxMs: number | undefined;
    }
  /** `steps[i]` from `i * everyMs` after the scenario was armed; the last one for ever. */
  | { readonly kind: 'ramp'; readonly stepsMs: readonly number[]; readonly everyMs: number };

export type HangEnd =
  /** The client's deadline; for a call without one, the scenario's maxHang or the engine's. */
  | { readonly kind: 'deadline' }
  /** `fake-csi release`, `reset`, or the client leaving. */
  | { readonly kind: 'release' }
  | { readonly kind: 'time'; readonly ms: number };

/** `request.volume_capability.mount.fs_type: xfs` → path `['volume_capability', 'mount', 'fs_type']`. */
export interface FieldChange {
  readonly path: readonly string[];
  /** JSON; null removes the field. */
  readonly value: unknown;
}

/** What a disk is made to be before a stage; the kernel then says what it thinks of it. */
export type DiskCondition =
  | { readonly kind: 'missing' }
  | { readonly kind: 'blank' }
  | { readonly kind: 'foreignFs'; readonly fsType: 'ext4' | 'xfs' | 'btrfs' | 'vfat' | 'swap' }
  | { readonly kind: 'corruptSuperblock' }
  | { readonly kind: 'dirtyLog' }
  | { readonly kind: 'duplicateUuid' }
  /** Keeps this part of the disk, 0 to 1. */
  | { readonly kind: 'truncated'; readonly keep: number }
  | { readonly kind: 'readOnlyDevice' };

/**
 * Conditions that stay, and take the volume's data with them: they need `destructive: true`. The others are taken back
 * as soon as the call is over.
 */
export const DESTRUCTIVE_CONDITIONS = ['blank', 'corruptSuperblock', 'truncated'] as const;

export type ProcessAct =
  | { readonly kind: 'exit'; readonly code: number }
  /** SIGSTOP, and SIGCONT after that time. */
  | { readonly kind: 'stop'; readonly forMs: number }
  /** The socket is gone and its connections are cut; it listens again after that time, or at reset. */
  | { readonly kind: 'closeSocket'; readonly forMs: number | undefined };

/**
 * What the kubelet is to find in its plugins_registry. `unregister`: no socket. `dead`: a file that nobody listens on, as
 * a reboot leaves it. `silent`: a socket that takes connections and says nothing. `second`: another socket that gives the
 * same driver's name. Until the time is up, the rule's window closes, or reset.
 */
export interface RegistrationAct {
  readonly kind: 'unregister' | 'second' | 'dead' | 'silent';
  readonly forMs: number | undefined;
}

/** A string test: a glob, `/re/`, or one of them after `!`. */
export interface Pattern {
  /** As written. */
  readonly source: string;
  /** Absent values match nothing but a negation. */
  test(value: string | undefined): boolean;
}

/** One of them has to hold (negations: all of them). Empty: no condition. */
export interface Patterns {
  readonly patterns: readonly Pattern[];
  test(value: string | undefined): boolean;
  /** For near misses: `fast, slow*`. */
  readonly source: string;
}

export interface QuantityTest {
  readonly source: string;
  test(bytes: bigint | undefined): boolean;
}

export type VolumeState = 'created' | 'attached' | 'staged' | 'published';

/** All of its keys have to hold; an absent one always does. */
export interface Match {
  /** The methods that `rpc` and `service` leave; undefined: all. */
  readonly methods: ReadonlySet<Method> | undefined;
  readonly node?: Patterns;
  readonly volume?: VolumeMatch;
  readonly pod?: PodMatch;
  readonly state?: readonly VolumeState[];
  readonly where?: Expression;
}

export interface VolumeMatch {
  readonly id?: Patterns;
  readonly name?: Patterns;
  readonly pvcNamespace?: Patterns;
  readonly pvcName?: Patterns;
  readonly storageClass?: Patterns;
  readonly parameters?: Readonly<Record<string, Patterns>>;
  readonly attributes?: Readonly<Record<string, Patterns>>;
  readonly fsType?: Patterns;
  /** Names of csi.v1.VolumeCapability.AccessMode.Mode. */
  readonly accessMode?: Patterns;
  readonly block?: boolean;
  readonly capacity?: QuantityTest;
}

export interface PodMatch {
  readonly namespace?: Patterns;
  readonly name?: Patterns;
  readonly uid?: Patterns;
  readonly serviceAccount?: Patterns;
}

export type CounterKey = 'rule' | 'volume' | 'pod' | 'node';

/** All of its keys have to hold. */
export interface When {
  readonly per: CounterKey;
  /** Ordinals, from 1, of calls that reach this test for one key. */
  readonly nth?: OrdinalTest;
  readonly every?: number;
  readonly skip?: number;
  /** Fires for one key. */
  readonly times?: number;
  readonly probability?: number;
  readonly after?: After;
  readonly window?: Window;
  /** Names of machines and the states they have to be in. */
  readonly machine?: Readonly<Record<string, readonly string[]>>;
}

export interface OrdinalTest {
  readonly source: string;
  test(ordinal: number): boolean;
}

export interface After {
  /** Undefined: since it was armed. `fired:NAME` is a rule of the same scenario. */
  readonly event: LifecycleEvent | `fired:${string}` | undefined;
  readonly delayMs: number;
}

export type LifecycleEvent =
  | 'created'
  | 'attached'
  | 'staged'
  | 'published'
  | 'unpublished'
  | 'unstaged'
  | 'detached'
  | 'expanded';

export type Window =
  /** Counted from arming; the rule acts while it is down. */
  | { readonly kind: 'duty'; readonly upMs: number; readonly downMs: number }
  /** It acts for that time from each moment the pattern names (five fields, UTC). */
  | { readonly kind: 'cron'; readonly cron: string; readonly forMs: number };

/** A pure expression over what is known of a call. Errors (a missing field, a wrong type) make it null. */
export interface Expression {
  readonly source: string;
  evaluate(scope: Scope): unknown;
}

/** Text with `${expression}` in it. */
export interface Template {
  readonly source: string;
  render(scope: Scope): string;
}

/** Roots of the paths that expressions and templates may name. Plain JSON data without secrets. */
export interface Scope {
  readonly request?: unknown;
  readonly volume?: unknown;
  readonly pod?: unknown;
  readonly node?: unknown;
  readonly call?: unknown;
  readonly rule?: unknown;
  readonly scenario?: unknown;
}

export const SCOPE_ROOTS = ['request', 'volume', 'pod', 'node', 'call', 'rule', 'scenario'] as const;

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
