import type { VolumeFacts } from '../engine/facts';
import type { VolumeState } from '../model';

/** A volume as the driver's own records have it. What is left out is taken from the journal. */
export interface WorldVolume extends Partial<Omit<VolumeFacts, 'id' | 'states'>> {
  readonly id: string;
  /** The furthest it has come: a published volume is staged, attached and created too. */
  readonly state: VolumeState;
}

/** What is left behind on the machine and belongs to no volume in use. */
export interface Leaks {
  readonly loops: number;
  readonly mounts: number;
  readonly frozen: number;
}

/** The driver as it is now. Without one, states are told from the journal, and leaks cannot be. */
export interface WorldView {
  volumes(): readonly WorldVolume[] | Promise<readonly WorldVolume[]>;
  leaks(): Promise<Leaks>;
}

/** What of it was seen at one moment. */
export interface WorldSnapshot {
  readonly volumes?: readonly WorldVolume[];
  readonly leaks?: Leaks;
}
