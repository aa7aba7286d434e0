import { type DeviceNumber, HostError } from '../host';
import type { Argument, Binding, FunctionName } from './binding';
import { descriptor, fsconfigSetCall, ioctlAbout, ioctlCall } from './calls';
import { AT, FSCONFIG, FSOPEN, IOCTL, MOVE_MOUNT, O, STATX, SYSCALL, SYSCALL_BY_ARCH } from './constants';
import type { About } from './errno';
import type { Limiter } from './limiter';
import {
  decodeStatfs,
  decodeStatx,
  encodeDevice,
  STATFS_SIZE,
  STATX_SIZE,
  type Statfs,
  type Statx,
} from './structs';

/**
 * Calls that run in libuv's thread pool. Failure is a HostError with the errno's name, the operation and the path.
 */
export interface AsyncCalls {
  /** open(2), here rather than in node:fs because an open that hangs must not take an uncounted thread. Always O_CLOEXEC. */
  open(path: string, flags: number, mode?: number): Promise<number>;
  close(fd: number): Promise<void>;

  /**
   * A Buffer is passed by address (the kernel may write to it), a number or bigint by value. `about` names the ioctl
   * and the file in errors; without it they say `ioctl: descriptor 7`.
   */
  ioctl(
    fd: number,
    request: number,
    argument: Buffer | number | bigint,
    about?: Partial<About>,
  ): Promise<number>;
  /** FICLONE: `targetFd` shares all extents of `sourceFd`. EOPNOTSUPP or EXDEV where the filesystem cannot. */
  ficlone(targetFd: number, sourceFd: number): Promise<void>;
  /** lseek(2) with SEEK.DATA or SEEK.HOLE. ENXIO: no data at or after `offset`. */
  lseek(fd: number, offset: bigint, whence: number): Promise<bigint>;
  /** Bytes copied, possibly fewer than asked; 0 at the end of the source. */
  copyFileRange(
    sourceFd: number,
    sourceOffset: bigint,
    targetFd: number,
    targetOffset: bigint,
    length: number,
  ): Promise<number>;

  /** statx(2) with the basic fields and the mount id. `flags`: AT.SYMLINK_NOFOLLOW, AT.NO_AUTOMOUNT, … */
  statx(path: string, flags: number): Promise<Statx>;
  fstatx(fd: number): Promise<Statx>;
  statfs(path: string): Promise<Statfs>;
  fstatfs(fd: number): Promise<Statfs>;
  /** `path` is for the error's text only. */
  syncfs(fd: number, path: string): Promise<void>;
  fsync(fd: number, path: string): Promise<void>;
  /** mknod(2); `mode` with its S_IF bits. */
  mknod(path: string, mode: number, device: DeviceNumber): Promise<void>;

  mount(
    source: string | null,
    target: string,
    fsType: string | null,
    flags: number,
    data: string | null,
  ): Promise<void>;
  umount2(target: string, flags: number): Promise<void>;

  /** A descriptor of the mount at `path`; with OPEN_TREE.CLONE, of a detached copy of it. */
  openTree(path: string, flags: number): Promise<number>;
  /** Attaches the detached mount `fd` at `target`. A link as the last component of `target` is not followed. */
  moveMount(fd: number, target: string): Promise<void>;
  /** A filesystem context; may load a kernel module. ENODEV: the kernel has no such type. */
  fsopen(fsType: string): Promise<number>;
  /** A context that reconfigures the superblock mounted at `path`. */
  fspick(path: string, flags: number): Promise<number>;
  /** Without `value`: a flag. */
  fsconfigSet(fd: number, key: string, value?: string): Promise<void>;
  /** FSCONFIG.CMD_CREATE or FSCONFIG.CMD_RECONFIGURE. */
  fsconfigCommand(fd: number, command: number): Promise<void>;
}

function numberOf(call: 'statx' | 'copy_file_range' | 'mknodat'): number {
  const numbers = SYSCALL_BY_ARCH[process.arch];
  if (numbers !== undefined) return numbers[call];
  throw new HostError(
    'ENOSYS',
    call,
    `${call}: not known for ${process.arch}; x64 and arm64 are supported. Use the memory backend here`,
  );
}

export function asyncCalls(load: () => Binding, limiter: Limiter): AsyncCalls {
  const call = (name: FunctionName, args: readonly Argument[], about: About) =>
    limiter.run(() => load().call(name, args, about));

  const statx = async (fd: number, path: string, flags: number, about: About): Promise<Statx> => {
    const buffer = Buffer.alloc(STATX_SIZE);
    const mask = STATX.BASIC_STATS | STATX.MNT_ID;
    await call('statx', [numberOf('statx'), fd, path, flags, mask, buffer], about);
    return decodeStatx(buffer);
  };

  return {
    async open(path, flags, mode = 0) {
      return Number(
        await call('open', [path, flags | O.CLOEXEC, mode], { operation: 'open', subject: path }),
      );
    },
    async close(fd) {
      await call('close', [fd], { operation: 'close', subject: descriptor(fd) });
    },

    async ioctl(fd, request, argument, about) {
      const [name, args] = ioctlCall(fd, request, argument);
      return Number(await call(name, args, ioctlAbout(fd, about)));
    },
    async ficlone(targetFd, sourceFd) {
      const about = { operation: 'FICLONE', subject: `descriptor ${sourceFd} to ${targetFd}` };
      await call('ioctlValue', [targetFd, IOCTL.FICLONE, sourceFd], about);
    },
    lseek(fd, offset, whence) {
      return call('lseek', [fd, offset, whence], { operation: 'lseek', subject: descriptor(fd) });
    },
    async copyFileRange(sourceFd, sourceOffset, targetFd, targetOffset, length) {
      const from = Buffer.alloc(8);
      from.writeBigInt64LE(sourceOffset);
      const to = Buffer.alloc(8);
      to.writeBigInt64LE(targetOffset);
      const args = [numberOf('copy_file_range'), sourceFd, from, targetFd, to, length, 0];
      const about = { operation: 'copy_file_range', subject: `descriptor ${sourceFd} to ${targetFd}` };
      return Number(await call('copyFileRange', args, about));
    },

    statx: (path, flags) => statx(AT.FDCWD, path, flags, { operation: 'statx', subject: path }),
    fstatx: (fd) => statx(fd, '', AT.EMPTY_PATH, { operation: 'statx', subject: descriptor(fd) }),
    async statfs(path) {
      const buffer = Buffer.alloc(STATFS_SIZE);
      await call('statfs', [path, buffer], { operation: 'statfs', subject: path });
      return decodeStatfs(buffer);
    },
    async fstatfs(fd) {
      const buffer = Buffer.alloc(STATFS_SIZE);
      await call('fstatfs', [fd, buffer], { operation: 'statfs', subject: descriptor(fd) });
      return decodeStatfs(buffer);
    },
    async syncfs(fd, path) {
      await call('syncfs', [fd], { operation: 'syncfs', subject: path });
    },
    async fsync(fd, path) {
      await call('fsync', [fd], { operation: 'fsync', subject: path });
    },
    async mknod(path, mode, device) {
      const args = [numberOf('mknodat'), AT.FDCWD, path, mode, encodeDevice(device)];
      await call('mknodat', args, { operation: 'mknod', subject: path });
    },

    async mount(source, target, fsType, flags, data) {
      await call('mount', [source, target, fsType, flags, data], { operation: 'mount', subject: target });
    },
    async umount2(target, flags) {
      await call('umount2', [target, flags], { operation: 'umount2', subject: target });
    },

    async openTree(path, flags) {
      const about = { operation: 'open_tree', subject: path };
      return Number(await call('openTree', [SYSCALL.open_tree, AT.FDCWD, path, flags], about));
    },
    async moveMount(fd, target) {
      const args = [SYSCALL.move_mount, fd, '', AT.FDCWD, target, MOVE_MOUNT.F_EMPTY_PATH];
      await call('moveMount', args, { operation: 'move_mount', subject: target });
    },
    async fsopen(fsType) {
      const about = { operation: 'fsopen', subject: fsType };
      return Number(await call('fsopen', [SYSCALL.fsopen, fsType, FSOPEN.CLOEXEC], about));
    },
    async fspick(path, flags) {
      const about = { operation: 'fspick', subject: path };
      return Number(await call('fspick', [SYSCALL.fspick, AT.FDCWD, path, flags], about));
    },
    async fsconfigSet(fd, key, value) {
      await call(...fsconfigSetCall(fd, key, value));
    },
    async fsconfigCommand(fd, command) {
      const subject = command === FSCONFIG.CMD_CREATE ? 'create' : 'reconfigure';
      const args = [SYSCALL.fsconfig, fd, command, null, null, 0];
      await call('fsconfig', args, { operation: 'fsconfig', subject });
    },
  };
}
