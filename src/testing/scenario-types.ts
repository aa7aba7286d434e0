import type { Method } from '../csi/rpcs';
import type { CodeName } from '../csi/status';

/*
 * The language of scenarios as TypeScript, for editors: what is allowed where, and in which form. It is the language of
 * the YAML files (docs/scenarios.md, scenarios/schema.json) word by word; whether a text such as a duration says anything
 * is checked when it is used. test/types keeps its keys equal to those of the schema.
 */

/** `5s`, `500ms`, `2m`, `1h`, `1m30s`. */
export type DurationText = string;

/** A glob (`data-*`), `/re/`, one of them after `!` for not, or a list of which one has to match. */
export type PatternSpec = string | number | boolean | readonly (string | number | boolean)[];

type Listed<Name extends string> = Name | (string & {}) | readonly (Name | (string & {}))[];

/** Names of RPCs, or patterns of them: `NodeStageVolume`, `Node*`, `!Probe`. */
export type RpcSpec = Listed<Method>;

export type ServiceSpec = Listed<
  'identity' | 'controller' | 'groupController' | 'snapshotMetadata' | 'node' | 'registration'
>;

/** `UNAVAILABLE`, or its number from 1 to 16. */
export type CodeSpec = CodeName | (string & {}) | number;

export type VolumeStateName = 'created' | 'attached' | 'staged' | 'published';

export interface VolumeSpec {
  readonly id?: PatternSpec;
  readonly name?: PatternSpec;
  /** The claim it was made for, which external-provisioner tells (--extra-create-metadata). */
  readonly pvc?: { readonly namespace?: PatternSpec; readonly name?: PatternSpec };
  /** What the StorageClass says in its own parameter `storageClass`. */
  readonly storageClass?: PatternSpec;
  readonly parameters?: Readonly<Record<string, PatternSpec>>;
  readonly attributes?: Readonly<Record<string, PatternSpec>>;
  readonly fsType?: PatternSpec;
  /** Such as `SINGLE_NODE_WRITER`. */
  readonly accessMode?: PatternSpec;
  readonly block?: boolean;
  /** `>=1Gi`, `1Gi..5Gi` */
  readonly capacity?: string | number;
}

export interface PodSpec {
  readonly namespace?: PatternSpec;
  readonly name?: PatternSpec;
  readonly uid?: PatternSpec;
  readonly serviceAccount?: PatternSpec;
}

/** Which calls a rule is about; all keys have to hold. */
export interface MatchSpec {
  readonly rpc?: RpcSpec;
  readonly service?: ServiceSpec;
  readonly node?: PatternSpec;
  readonly volume?: VolumeSpec;
  readonly pod?: PodSpec;
  readonly state?: { readonly volume: VolumeStateName | readonly VolumeStateName[] };
  /** A condition such as `request.readonly == true`. */
  readonly where?: string;
}

/** Which of those calls it acts on; all keys have to hold. */
export interface WhenSpec {
  /** What is counted for itself (default `rule`: all calls together). */
  readonly per?: 'rule' | 'volume' | 'pod' | 'node';
  /** `3`, `'3..'`, `'2..5'` or a list; the first call is 1. */
  readonly nth?: string | number | readonly (string | number)[];
  readonly every?: number;
  readonly skip?: number;
  /** Fires at most. */
  readonly times?: number;
  /** `0.5` or `'50%'` */
  readonly probability?: string | number;
  readonly after?: string | { readonly event?: string; readonly delay?: DurationText };
  readonly window?:
    | { readonly up: DurationText; readonly down: DurationText }
    | { readonly cron: string; readonly for: DurationText };
  readonly machine?: Readonly<Record<string, string | readonly string[]>>;
}

export type DelaySpec =
  | DurationText
  | { readonly uniform: readonly [DurationText, DurationText] }
  | {
      readonly lognormal: { readonly median: DurationText; readonly sigma: number };
      readonly max?: DurationText;
    }
  | { readonly ramp: readonly DurationText[]; readonly every: DurationText };

export type ErrorSpec = CodeSpec | { readonly code: CodeSpec; readonly message?: string };

export type HangSpec =
  | 'deadline'
  | 'release'
  | (DurationText & {})
  | { readonly until?: 'deadline' | 'release' | (DurationText & {}) };

export type DiskSpec =
  | 'missing'
  | 'blank'
  | 'corruptSuperblock'
  | 'dirtyLog'
  | 'duplicateUuid'
  | 'readOnlyDevice'
  | { readonly foreignFs: 'ext4' | 'xfs' | 'btrfs' | 'vfat' | 'swap' }
  | { readonly truncated: string | number };

/** In the library `exit` ends the driver alone, never the test's process (StartOptions.restartAfter). */
export type ProcessSpec =
  | { readonly exit: number }
  | { readonly stopFor: DurationText }
  | { readonly closeSocket: true | DurationText };

/** What the kubelet is to find in its plugins_registry; needs a driver that registers itself. */
export type RegistrationSpec = { readonly for?: DurationText } & (
  | { readonly unregister: true }
  | { readonly second: true }
  | { readonly dead: true }
  | { readonly silent: true }
);

/** One thing that is done to a call; `at` says where, for itself and for the steps after it. */
export interface StepSpec {
  readonly at?: 'before' | 'instead' | 'after' | (string & {});
  readonly delay?: DelaySpec;
  readonly error?: ErrorSpec;
  readonly hang?: HangSpec;
  /** Paths below `request` and what is put there; null takes the field away. */
  readonly set?: Readonly<Record<string, unknown>>;
  readonly respond?: { readonly merge: Readonly<Record<string, unknown>> };
  readonly disk?: DiskSpec;
  readonly process?: ProcessSpec;
  readonly registration?: RegistrationSpec;
  /** Machines and the states they go to. */
  readonly goto?: Readonly<Record<string, string>>;
}

interface RuleBase {
  readonly name?: string;
  /** Higher first (default 0). */
  readonly priority?: number;
  readonly continue?: boolean;
  /** It may destroy the data of the volumes it fires on. */
  readonly destructive?: boolean;
  readonly match?: MatchSpec;
  readonly when?: WhenSpec;
}

/** Either steps for every fire, or stages: `2*UNAVAILABLE(busy) -> 1*delay(20s) -> ok`. */
export type RuleSpec = RuleBase &
  (
    | { readonly then: readonly StepSpec[]; readonly sequence?: never }
    | { readonly sequence: string; readonly then?: never }
  );

export interface LimitsSpec {
  readonly maxFired?: number;
  readonly maxActive?: number;
  readonly maxVolumes?: number;
  readonly maxHang?: DurationText;
  readonly allowDestructive?: boolean;
  readonly stopIf?: string | readonly string[];
}

/** A scenario as a file has it. */
export interface ScenarioSpec {
  readonly apiVersion: 'fake-csi/v1';
  readonly kind: 'Scenario';
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly seed?: number;
    /** Armed when it is loaded (default true). One that is not acts on volumes that name it. */
    readonly enabled?: boolean;
    readonly expires?: DurationText;
    /** Injected errors do not name the scenario. */
    readonly discreet?: boolean;
    readonly limits?: LimitsSpec;
    readonly rules?: readonly RuleSpec[];
    readonly machines?: Readonly<Record<string, { readonly initial: string }>>;
    readonly expect?: readonly ExpectationSpec[];
  };
}

/** Calls that an expectation is about; all keys have to hold. */
export interface SelectorSpec {
  readonly rpc?: RpcSpec;
  readonly service?: ServiceSpec;
  readonly node?: PatternSpec;
  /** A pattern of ids, or what a rule matches volumes by. */
  readonly volume?: string | VolumeSpec;
  readonly pod?: PodSpec;
  /** `OK` among them. */
  readonly code?: Listed<CodeName | 'OK'>;
  readonly message?: PatternSpec;
  /** `scenario/rule`, or the rule's own name. */
  readonly fired?: PatternSpec;
}

type Optional = { readonly optional?: boolean };
type SinceSpec = { readonly since?: string; readonly after?: string };

/** One line under `expect:`. */
export type ExpectationSpec =
  | (SelectorSpec &
      SinceSpec &
      Optional & { readonly count: string | number; readonly within?: DurationText })
  | (SelectorSpec &
      SinceSpec &
      Optional & {
        readonly never: RpcSpec | SelectorSpec;
        readonly for?: DurationText;
        readonly until?: Method | SelectorSpec;
      })
  | (Optional & { readonly order: readonly (Method | SelectorSpec)[] })
  | (Optional & {
      readonly gap: SelectorSpec & {
        readonly ratio?: number;
        readonly tolerance?: string | number;
        readonly min?: DurationText;
        readonly max?: DurationText;
      };
    })
  | (SelectorSpec & Optional & { readonly overlap: 'none' })
  | (SelectorSpec & Optional & { readonly idempotent: Method | SelectorSpec })
  | (Optional & {
      readonly eventually: {
        readonly volume?: string | VolumeSpec;
        readonly state?: VolumeStateName | 'deleted';
        readonly registration?: 'registered' | 'refused' | 'withdrawn';
      };
      readonly within?: DurationText;
    })
  | (Optional & {
      readonly leak: { readonly loops?: number; readonly mounts?: number; readonly frozen?: number };
      readonly when?: 'end';
    })
  | (Optional & { readonly fired: { readonly rule: string; readonly times?: string | number } });
