import { HostError } from '../host';

/**
 * Linux errno numbers of the generic ABI (include/uapi/asm-generic/errno*.h), the same on x64 and arm64.
 * `os.constants.errno` lacks the ones disks and mounts answer with (EUCLEAN, ENOTBLK, EREMOTEIO, EHOSTDOWN, …).
 */
const ERRNO: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  1: ['EPERM', 'operation not permitted'],
  2: ['ENOENT', 'no such file or directory'],
  3: ['ESRCH', 'no such process'],
  4: ['EINTR', 'interrupted system call'],
  5: ['EIO', 'input/output error'],
  6: ['ENXIO', 'no such device or address'],
  7: ['E2BIG', 'argument list too long'],
  9: ['EBADF', 'bad file descriptor'],
  11: ['EAGAIN', 'resource temporarily unavailable'],
  12: ['ENOMEM', 'out of memory'],
  13: ['EACCES', 'permission denied'],
  14: ['EFAULT', 'bad address'],
  15: ['ENOTBLK', 'not a block device'],
  16: ['EBUSY', 'device or resource busy'],
  17: ['EEXIST', 'file exists'],
  18: ['EXDEV', 'not on the same filesystem or mount namespace'],
  19: ['ENODEV', 'no such device'],
  20: ['ENOTDIR', 'not a directory'],
  21: ['EISDIR', 'is a directory'],
  22: ['EINVAL', 'invalid argument'],
  23: ['ENFILE', 'too many open files in the system'],
  24: ['EMFILE', 'too many open files in this process'],
  25: ['ENOTTY', 'this file does not know that ioctl'],
  26: ['ETXTBSY', 'text file busy'],
  27: ['EFBIG', 'file too large'],
  28: ['ENOSPC', 'no space left on device'],
  29: ['ESPIPE', 'illegal seek'],
  30: ['EROFS', 'read-only filesystem'],
  31: ['EMLINK', 'too many links'],
  32: ['EPIPE', 'broken pipe'],
  34: ['ERANGE', 'result out of range'],
  35: ['EDEADLK', 'resource deadlock avoided'],
  36: ['ENAMETOOLONG', 'file name too long'],
  37: ['ENOLCK', 'no locks available'],
  38: ['ENOSYS', 'system call not available here'],
  39: ['ENOTEMPTY', 'directory not empty'],
  40: ['ELOOP', 'too many symbolic links'],
  61: ['ENODATA', 'no data available'],
  62: ['ETIME', 'timer expired'],
  71: ['EPROTO', 'protocol error'],
  74: ['EBADMSG', 'bad message (checksum mismatch)'],
  75: ['EOVERFLOW', 'value too large for the data type'],
  79: ['ELIBACC', 'cannot access a needed shared library'],
  84: ['EILSEQ', 'invalid byte sequence'],
  95: ['EOPNOTSUPP', 'operation not supported'],
  103: ['ECONNABORTED', 'connection aborted'],
  104: ['ECONNRESET', 'connection reset'],
  107: ['ENOTCONN', 'transport endpoint is not connected'],
  108: ['ESHUTDOWN', 'transport endpoint was shut down'],
  110: ['ETIMEDOUT', 'timed out'],
  111: ['ECONNREFUSED', 'connection refused'],
  112: ['EHOSTDOWN', 'host is down'],
  113: ['EHOSTUNREACH', 'no route to host'],
  116: ['ESTALE', 'stale file handle'],
  117: ['EUCLEAN', 'structure needs cleaning: the filesystem is damaged'],
  121: ['EREMOTEIO', 'remote input/output error'],
  122: ['EDQUOT', 'quota exceeded'],
  123: ['ENOMEDIUM', 'no medium found'],
  124: ['EMEDIUMTYPE', 'wrong medium type'],
  125: ['ECANCELED', 'cancelled'],
};

const MEANING = new Map(Object.values(ERRNO));

/** `EBUSY` of 16; a number this table lacks becomes `ERRNO_<number>`, so that it is still found in a report. */
export function errnoName(errno: number): string {
  return ERRNO[errno]?.[0] ?? `ERRNO_${errno}`;
}

/** `EBUSY (device or resource busy)`: name and meaning as they appear in every message. */
export function describeErrno(name: string): string {
  const meaning = MEANING.get(name);
  return meaning === undefined ? name : `${name} (${meaning})`;
}

/** What a system call was about: names the error that it may become. */
export interface About {
  /** `umount2`, `LOOP_CONFIGURE`, … */
  operation: string;
  /** The path, device or file the caller knows it by. */
  subject: string;
}

/** `umount2: /x: EBUSY (device or resource busy)`. */
export function systemCallError(errno: number | string, about: About): HostError {
  const name = typeof errno === 'number' ? errnoName(errno) : errno;
  return new HostError(name, about.operation, `${about.operation}: ${about.subject}: ${describeErrno(name)}`);
}

/** Whether `error` is a HostError of one of these errno names. */
export function isErrno(error: unknown, ...names: string[]): error is HostError {
  return error instanceof HostError && names.includes(error.errno);
}
