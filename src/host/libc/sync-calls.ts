import { HostError } from '../host';
import type { Argument, Binding, FunctionName } from './binding';
import { descriptor, fsconfigSetCall, ioctlAbout, ioctlCall } from './calls';
import { AT, FSMOUNT, O, SYSCALL } from './constants';
import type { About } from './errno';
import { encodeMountAttr } from './structs';

/** LOCK_EX | LOCK_NB */
const LOCK_EX_NB = 6;
const LOCK_UN = 8;

/** Calls on the event loop's own thread: only what can never wait for a disk, a network or another process. */
export interface SyncCalls {
  /** Of a device that answers from memory. Always O_CLOEXEC. */
  openSync(path: string, flags: number): number;
  closeSync(fd: number): void;
  /** read(2) of what is at hand; null when there is nothing (ENODATA, end of file). */
  readSync(fd: number, size: number): Buffer | null;
  ioctlSync(fd: number, request: number, argument: Buffer | number | bigint, about?: Partial<About>): number;
  lseekSync(fd: number, offset: bigint, whence: number): bigint;
  /** flock(2), exclusive, without waiting: EAGAIN when another open file of it is locked. */
  lockSync(fd: number): void;
  /** Ends a lock of flock(2) before the last descriptor of the open file is closed. */
  unlockSync(fd: number): void;
  /** An option whose value is not a path: the kernel only notes it down. */
  fsconfigSetSync(fd: number, key: string, value?: string): void;
  /** A descriptor of a detached mount of the created superblock, with MOUNT_ATTR `attributes`. */
  fsmountSync(fd: number, attributes: number): number;
  /** Sets and clears MOUNT_ATTR bits of the detached mount `fd` stands for, and gives it a propagation type (MS.PRIVATE). */
  mountSetattrSync(fd: number, set: number, clear: number, propagation: number): void;
}

export function syncCalls(load: () => Binding): SyncCalls {
  const call = (name: FunctionName, args: readonly Argument[], about: About) =>
    load().callSync(name, args, about);

  return {
    openSync(path, flags) {
      return Number(call('open', [path, flags | O.CLOEXEC, 0], { operation: 'open', subject: path }));
    },
    closeSync(fd) {
      call('close', [fd], { operation: 'close', subject: descriptor(fd) });
    },
    readSync(fd, size) {
      const buffer = Buffer.alloc(size);
      try {
        const about = { operation: 'read', subject: descriptor(fd) };
        const length = Number(call('read', [fd, buffer, size], about));
        return length === 0 ? null : buffer.subarray(0, length);
      } catch (error) {
        if (error instanceof HostError && error.errno === 'ENODATA') return null;
        throw error;
      }
    },
    ioctlSync(fd, request, argument, about) {
      const [name, args] = ioctlCall(fd, request, argument);
      return Number(call(name, args, ioctlAbout(fd, about)));
    },
    lseekSync(fd, offset, whence) {
      return call('lseek', [fd, offset, whence], { operation: 'lseek', subject: descriptor(fd) });
    },
    lockSync(fd) {
      call('flock', [fd, LOCK_EX_NB], { operation: 'flock', subject: descriptor(fd) });
    },
    unlockSync(fd) {
      call('flock', [fd, LOCK_UN], { operation: 'flock', subject: descriptor(fd) });
    },
    fsconfigSetSync(fd, key, value) {
      call(...fsconfigSetCall(fd, key, value));
    },
    fsmountSync(fd, attributes) {
      const args = [SYSCALL.fsmount, fd, FSMOUNT.CLOEXEC, attributes];
      return Number(call('fsmount', args, { operation: 'fsmount', subject: descriptor(fd) }));
    },
    mountSetattrSync(fd, set, clear, propagation) {
      const attributes = encodeMountAttr(set, clear, propagation);
      const args = [SYSCALL.mount_setattr, fd, '', AT.EMPTY_PATH, attributes, attributes.length];
      call('mountSetattr', args, { operation: 'mount_setattr', subject: descriptor(fd) });
    },
  };
}
