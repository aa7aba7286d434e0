import type { AccessType, BytesAt, DeviceFault, VolumeFacts } from '../../backends/backend';
import type { Host } from '../../host/host';

/** A disk that is about to be staged, and all that changing it takes. The volume's own lock is held meanwhile. */
export interface DiskTarget {
  readonly host: Host;
  readonly volume: VolumeFacts;
  /** Where the volume's bytes lie. */
  readonly at: BytesAt;
  /** Whether there is a disk at all: some backends keep file trees. */
  readonly blockImage: boolean;
  readonly stage: {
    readonly accessType: AccessType;
    readonly readOnly: boolean;
    /** What the disk would be mounted as, or formatted with; '' for raw block. */
    readonly fsType: string;
    /** A loop device over the disk that is in use already. */
    readonly loop: number | undefined;
  };
  /** The node's folder for what has to be taken back when the process is killed. */
  readonly undoFolder: string;
  /** Says in the journal what was done to the disk, or why nothing was. */
  effect(text: string): void;
}

/** A disk that a scenario made what it is, until `undo`. */
export interface PreparedDisk {
  /** What the backend has to know of it. */
  readonly device?: DeviceFault;
  /** Takes back what is not meant to stay. Called once, when the stage has ended, however it ended. */
  undo?(): Promise<void>;
}
