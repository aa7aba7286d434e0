import type { DeviceNumber, FsType, MountRoot, Usage } from '../host/host';

export const BACKEND_NAMES = ['loop', 'tmpfs', 'directory', 'memory'] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];
export type AccessType = 'mount' | 'block';

/** What a backend needs to know of a volume. */
export interface VolumeFacts {
  id: string;
  /** Decimal bytes. */
  capacityBytes: string;
  fsType: string;
  /** Set when the bytes came from a snapshot or another volume. */
  source?: { kind: 'snapshot' | 'volume'; id: string };
  mutable: Record<string, string>;
}

/** What a backend needs to know of a stage. */
export interface StageFacts {
  volumeId: string;
  stagingPath: string;
  readOnly: boolean;
  fsType: string;
  capability: { accessType: AccessType };
  loopIndex?: number;
  /** st_dev of the mount where it is not the loop device's own number (btrfs). */
  mountDevice?: DeviceNumber;
  /** It is unmounted for a moment, while it grows: the options to mount it with again. */
  remount?: string[] | undefined;
}

/** What becomes known of a stage while it is made or changed, to be kept before the machine is changed accordingly. */
export type StageNote = Partial<Pick<StageFacts, 'fsType' | 'loopIndex' | 'remount'>>;

/** What a step of the work reports to whoever watches the call: the journal, and faults that act between two steps. */
export interface Steps {
  /** Something was done to the machine, in a few words: `mounted /dev/loop3 (ext4) at /staging`. */
  effect(text: string): void;
  /** A named point between two steps. A fault may delay, fail or end the process here. */
  point(name: string): Promise<void>;
}

/** Where the bytes of a volume or a snapshot lie: a block image or a file tree, whichever the backend uses. */
export interface BytesAt {
  folder: string;
  disk: string;
  tree: string;
}

/** What a scenario has done to the device that a stage is about to use: the kernel is asked all the same. */
export interface DeviceFault {
  /** Path of a device that does not exist, where the volume's should be. */
  missing?: string;
  /** The device is write-protected, also for a stage that is to be writable. */
  readOnly?: true;
  /** Image that the device shows in place of the volume's own, which is left as it is. */
  disk?: string;
  /** What the kernel is asked to mount, whatever is found there: nothing is formatted, replayed or grown before. */
  mountAs?: FsType;
}

export interface StageOrder {
  volume: VolumeFacts;
  at: BytesAt;
  /** Existing folder. Raw block: nothing is mounted there. */
  stagingPath: string;
  accessType: AccessType;
  readOnly: boolean;
  /** The capability's filesystem; '' means whatever the volume has, or its default when it has none yet. */
  fsType: string;
  mountFlags: readonly string[];
  /**
   * A loop device over the same disk that is in use already, by another node of this machine or by mounts that outlived
   * their stage: one superblock must serve all of them.
   */
  loop: number | undefined;
  device?: DeviceFault | undefined;
  /** Keeps what a restarted process has to know. Called before anything is mounted, and before a disk is formatted. */
  note(facts: StageNote): Promise<void>;
}

export interface GrowOrder {
  volume: VolumeFacts;
  stage: StageFacts;
  staged: Staged;
  at: BytesAt;
  /** Something is published, or another node has it mounted: it must not be unmounted. */
  inUse: boolean;
  note(facts: StageNote): Promise<void>;
}

/** A staged volume as the kernel has it. */
export interface Staged {
  fsType: string;
  /** What must be found mounted at the staging path. Absent for raw block. */
  identity?: MountRoot;
  loopIndex?: number;
  /** Raw block: the device node that a publish binds. */
  devicePath?: string;
}

/** A disk could not be taken from the machine: something else still holds it. */
export class StillInUse extends Error {
  override readonly name = 'StillInUse';
}

export interface SizeLimits {
  minimum: bigint;
  maximum: bigint;
}

/** What holds the bytes of volumes: the controller's half (bytes) and the node's half (mounts). */
export interface Backend {
  readonly name: BackendName;
  readonly accessTypes: readonly AccessType[];
  /** Whether bytes are a block image: SnapshotMetadata can tell its extents, and a running copy can be cut at one instant. */
  readonly blockImage: boolean;
  /** Whether a grown volume needs NodeExpandVolume to be seen. */
  readonly nodeGrows: boolean;

  /** @returns the filesystem a volume with this wish gets. @throws CsiError INVALID_ARGUMENT for one it cannot make. */
  chooseFsType(wanted: string): string;
  limits(fsType: string, accessType: AccessType): SizeLimits;

  /** Makes the bytes of a new volume in an existing folder: blank, or a copy. Idempotent after a kill: starts over. */
  create(at: BytesAt, capacity: bigint, source: BytesAt | undefined, signal: AbortSignal): Promise<void>;
  /** Lets go of what the machine holds for the volume; its folder is removed by the caller. */
  destroy(volume: VolumeFacts): Promise<void>;
  grow(at: BytesAt, volume: VolumeFacts, capacity: bigint): Promise<void>;
  /** Copies a volume's bytes as they are now into an existing folder, complete or not at all. */
  copy(volume: VolumeFacts, from: BytesAt, to: BytesAt, signal: AbortSignal): Promise<void>;

  /**
   * Puts the volume at its staging path. On failure nothing is left behind: the kubelet does not call unstage after
   * a final error.
   */
  stage(order: StageOrder, steps: Steps): Promise<Staged>;
  /** What the kernel has for a stage record, when it is really this volume; undefined when nothing is there. */
  inspect(stage: StageFacts, at: BytesAt): Promise<Staged | undefined>;
  /** Whether a loop device is over this very disk, told by inode; never for a file tree. */
  loopOver(index: number, at: BytesAt): Promise<boolean>;
  /**
   * Lets go of the loop devices that only an ended stage needed; nothing is mounted at its staging path any more.
   * @throws StillInUse when a disk is still held.
   */
  release(loops: Iterable<number>, at: BytesAt, steps: Steps): Promise<void>;
  /** Makes a staged volume as large as `order.volume` says. */
  growStaged(order: GrowOrder, steps: Steps): Promise<void>;
  /** Mounts a stage again whose process was killed while it was unmounted for growing. @returns what to keep of it. */
  remount(stage: StageFacts, at: BytesAt): Promise<StageNote>;
  /** Usage at a path where the volume is mounted; raw block gives the device's size only. */
  usage(volume: VolumeFacts, staged: Staged, path: string): Promise<Usage | { deviceBytes: bigint }>;
}
