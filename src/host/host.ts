/**
 * What the driver asks of the machine it runs on. Two machines answer: `linux` (the kernel, through
 * src/host/libc) and `memory` (a model of the mount table and the loop devices, for unprivileged use).
 * Backends and services know only these interfaces.
 */
export interface Host {
  readonly kind: 'linux' | 'memory';
  readonly mounts: Mounts;
  readonly loops: LoopDevices;
  readonly filesystems: Filesystems;
  readonly disks: DiskFiles;
  /**
   * Takes a file for this process alone; the kernel lets go of it when the process ends, however it ends.
   * @returns the function that lets go of it. @throws HostError EAGAIN when another process has it.
   */
  lockFile(file: string): Promise<() => Promise<void>>;
  /** Mounts and loop devices do not outlive a boot: records of another boot id describe nothing. */
  bootId(): Promise<string>;
  /** What this process may do here; asked once at start. */
  abilities(): Promise<HostAbilities>;
}

/** Each ability is `true`, or the reason why not, as one sentence a person can act on. */
export interface HostAbilities {
  mount: true | string;
  loop: true | string;
  /** Growing a mounted ext4 asks for CAP_SYS_RESOURCE (EXT4_IOC_RESIZE_FS, seen on Linux 6.1 and 6.18). */
  growMountedExt4: true | string;
  /** By filesystem type: mkfs there, and the kernel knows the type. */
  filesystems: Record<FsType, true | string>;
}

export const FS_TYPES = ['ext4', 'xfs', 'btrfs'] as const;
export type FsType = (typeof FS_TYPES)[number];

/** A system call, ioctl or tool that failed: errno by name and the kernel's or the tool's own words. */
export class HostError extends Error {
  override readonly name = 'HostError';
  constructor(
    /** Errno name (`EBUSY`, `ENOSPC`, …), or `TOOL` when a program exited non-zero, or `TIMEOUT`. */
    readonly errno: string,
    /** What was tried: `mount`, `umount2`, `LOOP_CONFIGURE`, `mkfs.xfs`, … */
    readonly operation: string,
    message: string,
    /** For a refused mount option: the option's name as the kernel saw it. */
    readonly option?: string,
  ) {
    super(message);
  }
}

export interface DeviceNumber {
  major: number;
  minor: number;
}

/** What is mounted at one path, from one statx(2); never from the mount table. */
export interface MountRoot {
  device: DeviceNumber;
  rootInode: bigint;
  mountId: bigint;
}

export interface MountIdentity extends MountRoot {
  readOnly: boolean;
}

export type PathKind = 'missing' | 'folder' | 'file' | 'link' | 'blockDevice' | 'other';

/** What one look at a path tells: what is there, and what is mounted there (the path is a mount's root), if anything. */
export interface Look {
  kind: PathKind;
  mount: MountRoot | null;
}

export interface MountEntry {
  mountId: bigint;
  parentId: bigint;
  device: DeviceNumber;
  /** Path inside the filesystem that forms the root of this mount. */
  root: string;
  mountPoint: string;
  options: string[];
  fsType: string;
  source: string;
  superOptions: string[];
  /** `shared:N`, `master:N`, …; empty means private. */
  propagation: string[];
}

export interface Usage {
  bytes: { total: bigint; available: bigint; used: bigint };
  inodes: { total: bigint; available: bigint; used: bigint };
}

export interface Mounts {
  /**
   * What is at `path`, by one statx(2) that follows no link: one trip to the thread pool, for paths of every call.
   * @throws HostError as `at` does.
   */
  look(path: string): Promise<Look>;

  /**
   * What is mounted exactly at `path` (the path is itself a mount root), or null when it is not a mount
   * point or does not exist. Does not follow a symbolic link at `path`.
   * @throws HostError ENOTCONN, ESTALE, EIO, … when the mount there is dead.
   */
  at(path: string): Promise<MountIdentity | null>;

  /**
   * Mounts a filesystem at an existing folder. The mount appears atomically, complete with its flags.
   * `options` are mount(8) words: generic ones (`ro`, `noatime`, `nosuid`, `nodev`, `noexec`, `sync`, …) and
   * ones of the filesystem (`data=journal`, `nouuid`, `discard`, …).
   * @throws HostError whose message is the kernel's own text where the kernel gives one, and whose `option`
   *   names the first option refused, if any was.
   */
  mount(request: {
    fsType: string;
    source: string;
    target: string;
    readOnly: boolean;
    options: readonly string[];
  }): Promise<void>;

  /**
   * Binds `source` (a folder, a file or a device node) at an existing `target` of the same kind. With `readOnly`
   * the mount is never writable, not even briefly (open_tree + mount_setattr + move_mount). `options`: generic
   * per-mount words only (`noexec`, `nosuid`, `nodev`, `noatime`, `ro`, …); others are ignored, they belong to the superblock.
   */
  bind(request: {
    source: string;
    target: string;
    readOnly: boolean;
    options: readonly string[];
  }): Promise<void>;

  /** Unmounts the topmost mount at `target`. Nothing mounted there: EINVAL. `lazy`: MNT_DETACH. Never follows a link. */
  unmount(target: string, options?: { lazy?: boolean }): Promise<void>;

  /** Changes a tmpfs' `size=` (bytes) in place. ENOSPC/EINVAL when it already holds more. */
  resizeTmpfs(target: string, sizeBytes: bigint): Promise<void>;

  /** statfs(2): of the filesystem mounted at `path`. used + available <= total always. */
  usage(path: string): Promise<Usage>;

  /** FIFREEZE: writes wait, everything written is on the disk. EBUSY when already frozen. */
  freeze(path: string): Promise<void>;
  thaw(path: string): Promise<void>;

  /** Opens `path` and calls syncfs(2) (a folder) or fsync(2) (a device node). */
  sync(path: string): Promise<void>;

  /** The whole mount table. Only at start, in doctor and in tests: it costs 2 ms at 1,000 mounts. */
  list(): Promise<MountEntry[]>;
}

export interface LoopDevice {
  index: number;
  /** A node that opens the device: /dev/loopN, made with mknod where a container's /dev lacks it. */
  path: string;
  device: DeviceNumber;
  /** Closes our own descriptor. With autoclear the device then lives as long as somebody else uses it. Idempotent. */
  release(): Promise<void>;
}

export interface LoopStatus {
  index: number;
  path: string;
  /** st_dev and inode of the backing file: the proof that a device is ours (a name may be reused). */
  backing: { device: DeviceNumber; inode: bigint; path: string };
  readOnly: boolean;
  autoclear: boolean;
  sizeBytes: bigint;
}

export interface LoopDevices {
  /**
   * Attaches `file` to a free loop device (LOOP_CTL_GET_FREE, mknod when the node is missing, LOOP_CONFIGURE; a
   * lost race for the index is retried, bounded). One attach, one device: never shares silently.
   * @throws HostError EAGAIN while a program that an earlier driver started to grow the filesystem still works on it.
   */
  attach(file: string, options: { readOnly: boolean; autoclear: boolean }): Promise<LoopDevice>;
  /** Opens an existing device again; null when it is not attached. */
  open(index: number): Promise<LoopDevice | null>;
  status(index: number): Promise<LoopStatus | null>;
  /** LOOP_SET_CAPACITY: the device takes the size its backing file has now. */
  refreshSize(index: number): Promise<void>;
  /** LOOP_CLR_FD. Not attached: nothing to do. In use: the kernel clears it on last close. */
  detach(index: number): Promise<void>;
  /** Who keeps a device that was detached, a phrase each for an error; nobody whom this process may see: empty. Slow. */
  holders(index: number): Promise<string[]>;
  /** BLKRASET, in KiB: read-ahead of the device. */
  setReadAhead(index: number, kib: number): Promise<void>;
  /** BLKROSET: whether writes are refused (EPERM), of whoever has the device open. */
  setReadOnly(index: number, readOnly: boolean): Promise<void>;
  /**
   * Attached loop devices of the machine. Only at start, in doctor and in tests.
   * @param about of which backing files, by the path that the kernel tells (` (deleted)` behind it when it was unlinked; an
   * empty one when it is too long to be told). Left out: of all. Others are not opened: somebody else's device may have no
   * node here, and may wait for a disk that hangs.
   * @param except indexes that are not in question; not even their path is read.
   */
  list(about?: (file: string) => boolean, except?: ReadonlySet<number>): Promise<LoopStatus[]>;
}

export type ProbeResult =
  | { kind: 'blank' }
  | { kind: 'filesystem'; fsType: string; uuid: string; sizeBytes: bigint; blockSize: number }
  /** Something is on the disk that is none of our filesystems: `what` says what it looks like. Never formatted. */
  | { kind: 'unknown'; what: string };

export interface Filesystems {
  /**
   * What a disk file (or device) holds, read from its superblocks. `blank` only when no byte of it was ever
   * written or every byte that could hold a signature is zero.
   * @throws HostError when it cannot be read: an unreadable disk is never taken for a blank one.
   */
  probe(disk: string): Promise<ProbeResult>;

  /**
   * Makes a filesystem in a blank regular file of its final size, with a UUID of its own. ext4 copies the extents of
   * a template of that size (the first of a size pays one mkfs); xfs and btrfs fork their mkfs.
   * The file holds either nothing recognisable or the complete filesystem: the superblock is written last.
   */
  format(file: string, fsType: FsType, options?: { label?: string }): Promise<void>;

  /** The smallest device the type can be made on, in bytes (xfs: 300 MiB, btrfs: 109 MiB → 114294784, ext4: 256 KiB…). */
  minimumBytes(fsType: FsType): bigint;

  /**
   * Grows the filesystem mounted at `mountPoint` to its device (EXT4_IOC_RESIZE_FS, XFS_IOC_FSGROWFSDATA,
   * BTRFS_IOC_RESIZE: no fork). Already as large: nothing to do. @throws HostError EPERM for ext4 without CAP_SYS_RESOURCE.
   */
  growMounted(mountPoint: string, fsType: FsType): Promise<void>;

  /** Grows the unmounted filesystem in `file` to the file's size (ext4: e2fsck -fp, resize2fs). xfs and btrfs: HostError EINVAL, they grow mounted only. */
  growOffline(file: string, fsType: FsType): Promise<void>;

  /** Gives the unmounted filesystem in `file` a new UUID where the type needs that to be mounted beside its source (btrfs); others: nothing. */
  renewIdentity(file: string, fsType: FsType): Promise<void>;
}

export interface Extent {
  offset: bigint;
  length: bigint;
}

/** Sparse regular files that hold the bytes of volumes and snapshots. */
export interface DiskFiles {
  /** Makes a sparse file, or lengthens one; never shortens. @throws HostError EFBIG, ENOSPC. */
  ensureSize(file: string, sizeBytes: bigint): Promise<void>;
  /** Copies bytes and holes: FICLONE where the filesystem can, else extent by extent off the event loop. Stops when `signal` aborts, leaving no target. */
  copySparse(source: string, target: string, signal?: AbortSignal): Promise<void>;
  /** Extents that hold data, ascending, merged, from SEEK_DATA/SEEK_HOLE. */
  extents(file: string, from?: bigint): AsyncIterable<Extent>;
  /** Ranges where `target` differs from `base`, at `blockSize` granularity, ascending; only allocated parts are read. */
  differences(base: string, target: string, blockSize: number, from?: bigint): AsyncIterable<Extent>;
}
