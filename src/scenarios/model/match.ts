import type { Method } from '../../csi/rpcs';
import type { Expression } from './expression';
import type { Patterns, QuantityTest } from './pattern';

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
