import { constants } from 'node:fs';

/**
 * Numbers of the Linux user-space interface (include/uapi/linux/{mount,stat,fcntl,fs,loop,openat2}.h). They are the
 * same on x64 and arm64, but for the few system calls in SYSCALL_BY_ARCH.
 */
export const AT = {
  FDCWD: -100,
  SYMLINK_NOFOLLOW: 0x100,
  NO_AUTOMOUNT: 0x800,
  EMPTY_PATH: 0x1000,
  RECURSIVE: 0x8000,
} as const;

/** open(2) flags. Node knows those whose numbers differ between x64 and arm64. */
export const O = {
  RDONLY: 0,
  WRONLY: 1,
  RDWR: 2,
  CREAT: 0o100,
  EXCL: 0o200,
  NONBLOCK: 0o4000,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
  /** __O_TMPFILE with O_DIRECTORY, without which no kernel takes it. */
  TMPFILE: 0o20000000 | constants.O_DIRECTORY,
  DIRECTORY: constants.O_DIRECTORY,
  NOFOLLOW: constants.O_NOFOLLOW,
} as const;

export const SEEK = { END: 2, DATA: 3, HOLE: 4 } as const;

export const MS = {
  RDONLY: 1,
  NOSUID: 2,
  NODEV: 4,
  NOEXEC: 8,
  SYNCHRONOUS: 16,
  REMOUNT: 32,
  MANDLOCK: 64,
  DIRSYNC: 128,
  NOSYMFOLLOW: 256,
  NOATIME: 1024,
  NODIRATIME: 2048,
  BIND: 4096,
  SILENT: 32768,
  PRIVATE: 1 << 18,
  RELATIME: 1 << 21,
  STRICTATIME: 1 << 24,
  LAZYTIME: 1 << 25,
} as const;

export const UMOUNT = { DETACH: 2, NOFOLLOW: 8 } as const;

export const MOUNT_ATTR = {
  RDONLY: 0x1,
  NOSUID: 0x2,
  NODEV: 0x4,
  NOEXEC: 0x8,
  /** The access-time values are one field, not flags of their own: RELATIME is its zero. */
  ATIME_MASK: 0x70,
  RELATIME: 0x00,
  NOATIME: 0x10,
  STRICTATIME: 0x20,
  NODIRATIME: 0x80,
  NOSYMFOLLOW: 0x200000,
} as const;

export const OPEN_TREE = { CLONE: 1, CLOEXEC: O.CLOEXEC } as const;
export const MOVE_MOUNT = { F_EMPTY_PATH: 0x4 } as const;
export const FSOPEN = { CLOEXEC: 1 } as const;
export const FSPICK = { CLOEXEC: 1, SYMLINK_NOFOLLOW: 2, NO_AUTOMOUNT: 4 } as const;
export const FSMOUNT = { CLOEXEC: 1 } as const;
export const FSCONFIG = { SET_FLAG: 0, SET_STRING: 1, CMD_CREATE: 6, CMD_RECONFIGURE: 7 } as const;

export const STATX = { BASIC_STATS: 0x7ff, MNT_ID: 0x1000 } as const;
export const STATX_ATTR = { MOUNT_ROOT: 0x2000n } as const;

/** statfs(2) f_flags. */
export const ST = {
  RDONLY: 1,
  NOSUID: 2,
  NODEV: 4,
  NOEXEC: 8,
  SYNCHRONOUS: 16,
  NOATIME: 1024,
  NODIRATIME: 2048,
  RELATIME: 4096,
  NOSYMFOLLOW: 8192,
} as const;

export const IOCTL = {
  FIFREEZE: 0xc0045877,
  FITHAW: 0xc0045878,
  FICLONE: 0x40049409,
  BLKROSET: 0x125d,
  BLKRASET: 0x1262,
  BLKGETSIZE64: 0x80081272,
  LOOP_CLR_FD: 0x4c01,
  LOOP_GET_STATUS64: 0x4c05,
  LOOP_SET_CAPACITY: 0x4c07,
  LOOP_CONFIGURE: 0x4c0a,
  LOOP_CTL_GET_FREE: 0x4c82,
} as const;

export const S_IF = {
  MT: 0o170000,
  CHR: 0o020000,
  DIR: 0o040000,
  BLK: 0o060000,
  REG: 0o100000,
  LNK: 0o120000,
} as const;

/** System calls whose number is the same on every architecture (those added since Linux 5.1). */
export const SYSCALL = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
} as const;

/** Older ones, by `process.arch`. */
export const SYSCALL_BY_ARCH: Readonly<
  Record<string, { statx: number; copy_file_range: number; mknodat: number }>
> = {
  x64: { statx: 332, copy_file_range: 326, mknodat: 259 },
  arm64: { statx: 291, copy_file_range: 285, mknodat: 33 },
};

/** lo_flags of linux/loop.h. */
export const LO_FLAGS = { READ_ONLY: 1, AUTOCLEAR: 4 } as const;
