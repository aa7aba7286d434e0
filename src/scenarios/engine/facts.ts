import type { Method } from '../../csi/rpcs';
import type { VolumeState } from '../model';

/** What the driver knows of the volume a call is about. */
export interface VolumeFacts {
  readonly id: string;
  readonly name: string;
  readonly pvc: { readonly namespace?: string; readonly name?: string };
  /** What the StorageClass calls itself in its parameter `storageClass`; a driver is not told its name. */
  readonly storageClass: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
  readonly fsType: string | undefined;
  /** Names of csi.v1.VolumeCapability.AccessMode.Mode. */
  readonly accessModes: readonly string[];
  readonly block: boolean;
  readonly capacityBytes: bigint | undefined;
  /** All that hold: a published volume is staged, attached and created too. */
  readonly states: readonly VolumeState[];
  /**
   * Wall time, in milliseconds, at which it was made and attached, by its record: whichever process did it, in whichever of
   * its lives.
   */
  readonly since?: { readonly created?: number | undefined; readonly attached?: number | undefined };
}

export interface PodFacts {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly serviceAccount?: string;
}

/** A call on its arrival, as rules look at it. What costs something to find out is a function. */
export interface CallFacts {
  readonly id: number;
  readonly method: Method;
  readonly nodeId: string;
  /** The volume's id, also of one that the call would create. */
  readonly volumeId: string | undefined;
  volume(): VolumeFacts | undefined;
  pod(): PodFacts | undefined;
  /** The request as JSON without secrets. */
  plainRequest(): object;
}

/** What of the node `where`, `stopIf` and messages may speak of. */
export interface NodeFacts {
  readonly id: string;
  /** Free space of the filesystem that holds the data folder, in percent. */
  readonly fsFreePct: number | undefined;
}

/** Why a rule did not fire, by the first of its keys that did not hold. */
export interface Miss {
  /** `scenario/rule` */
  readonly rule: string;
  /** As in the file: `volume.storageClass`, `when.nth`. */
  readonly key: string;
  readonly found: string;
  readonly wanted: string;
}

export type KeyMiss = Omit<Miss, 'rule'>;
