import type { DeviceNumber } from '../host';
import { HostError } from '../host';
import { type Argument, type Binding, type FunctionName, loadBinding } from './binding';
import {
  AT,
  FSCONFIG,
  FSMOUNT,
  FSOPEN,
  IOCTL,
  MOVE_MOUNT,
  STATX,
  SYSCALL,
  SYSCALL_BY_ARCH,
} from './constants';
import type { About } from './errno';
import { Limiter } from './limiter';
import {
  decodeStatfs,
  decodeStatx,
  encodeDevice,
  encodeMountAttr,
  STATFS_SIZE,
  STATX_SIZE,
  type Statfs,
  type Statx,
} from './structs';

export * from './constants';
export { type About, describeErrno, errnoName, isErrno, systemCallError } from './errno';
export { decodeDevice, encodeDevice, type Statfs, type Statx } from './structs';

export interface LibcOptions {
  /** Calls in flight at once (default 8). Keep it, plus the reserve, below UV_THREADPOOL_SIZE. */
  width?: number;
  /** Places of their own for calls that let others go on: thaw, lazy unmount (default 2). */
  reserve?: number;
}

/** What an ioctl was about, in a failure's words. Without it: `ioctl: descriptor 7`. */
export type IoctlAbout = Partial<About>;

/**
 * The kernel, as far as the driver needs it. Each call runs in libuv's pool, at most `width` at once; failure is a
 * HostError with the errno's name, the operation and the path. The `…Sync` calls run on the event loop: only for what
 * can never wait for a disk, a network or another process.
 */
export interface Libc {
  /** open(2) and close(2) through the limiter: opening a device or a mount that hangs must not take an uncounted thread. */
  open(path: string, flags: number, mode?: number): Promise<number>;
  close(fd: number): Promise<void>;
  closeSync(fd: number): void;
  /** read(2) of what is at hand (an fs context's messages); null when there is nothing (ENODATA, end of file). */
  readSync(fd: number, size: number): Buffer | null;

  /** A Buffer is passed by address (and may be written to), a number or bigint by value. */
  ioctl(fd: number, request: number, argument: Buffer | number | bigint, about?: IoctlAbout): Promise<number>;
  ioctlSync(fd: number, request: number, argument: Buffer | number | bigint, about?: IoctlAbout): number;
  /** An ioctl that must not wait behind hung calls. */
  ioctlUrgent(
    fd: number,
    request: number,
    argument: Buffer | number | bigint,
    about?: IoctlAbout,
  ): Promise<number>;
  /** FICLONE: `target` shares all extents of `source`. EOPNOTSUPP or EXDEV where the filesystem cannot. */
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
  syncfs(fd: number, path: string): Promise<void>;
  fsync(fd: number, path: string): Promise<void>;
  /** mknod(2) of a device node; `mode` with its S_IF bits. */
  mknod(path: string, mode: number, device: DeviceNumber): Promise<void>;

  mount(
    source: string | null,
    target: string,
    fsType: string | null,
    flags: number,
    data: string | null,
  ): Promise<void>;
  umount2(target: string, flags: number): Promise<void>;
  /** umount2(2) that must not wait behind hung calls: for MNT_DETACH. */
  umount2Urgent(target: string, flags: number): Promise<void>;

  /** A descriptor of the mount at `path`; with OPEN_TREE.CLONE, of a detached copy of it. */
  openTree(path: string, flags: number): Promise<number>;
  /** Attaches the detached mount `fd` at `target`, whose last component is not followed. */
  moveMount(fd: number, target: string): Promise<void>;
  /** Sets and clears MOUNT_ATTR bits of the mount `fd` stands for. */
  mountSetattr(fd: number, set: number, clear: number): Promise<void>;
  /** A filesystem context. May load a kernel module. ENODEV: the kernel has no such type. */
  fsopen(fsType: string): Promise<number>;
  /** A context to reconfigure the superblock mounted at `path` with. */
  fspick(path: string, flags: number): Promise<number>;
  /** `value` undefined: a flag. */
  fsconfigSet(fd: number, key: string, value?: string): Promise<void>;
  /** FSCONFIG.CMD_CREATE or FSCONFIG.CMD_RECONFIGURE. */
  fsconfigCommand(fd: number, command: number): Promise<void>;
  /** A descriptor of a detached mount of the created superblock, with MOUNT_ATTR `attributes`. */
  fsmount(fd: number, attributes: number): Promise<number>;
}

/** Nothing native is loaded before the first call. */
export function createLibc(options: LibcOptions = {}): Libc {
  const ordinary = new Limiter(options.width ?? 8);
  const urgent = new Limiter(options.reserve ?? 2);
  let loaded: Binding | undefined;
  const binding = () => {
    loaded ??= loadBinding();
    return loaded;
  };

  const call = (name: FunctionName, args: readonly Argument[], about: About) =>
    ordinary.run(() => binding().call(name, args, about));
  const ioctlCall = (fd: number, request: number, argument: Buffer | number | bigint) => {
    const name: FunctionName = Buffer.isBuffer(argument) ? 'ioctlPointer' : 'ioctlValue';
    return [name, [fd, request, argument] as const] as const;
  };
  const ioctlAbout = (fd: number, about: IoctlAbout = {}): About => ({
    operation: about.operation ?? 'ioctl',
    subject: about.subject ?? `descriptor ${fd}`,
  });
  const numbersOfArch = (operation: string) => {
    const numbers = SYSCALL_BY_ARCH[process.arch];
    if (numbers !== undefined) return numbers;
    throw new HostError(
      'ENOSYS',
      operation,
      `${operation}: unknown on ${process.arch}; x64 and arm64 are supported. Use the memory backend here`,
    );
  };
  const statx = async (fd: number, path: string, flags: number, about: About): Promise<Statx> => {
    const buffer = Buffer.alloc(STATX_SIZE);
    await call(
      'statx',
      [numbersOfArch('statx').statx, fd, path, flags, STATX.BASIC_STATS | STATX.MNT_ID, buffer],
      about,
    );
    return decodeStatx(buffer);
  };

  return {
    async open(path, flags, mode = 0) {
      return Number(await call('open', [path, flags, mode], { operation: 'open', subject: path }));
    },
    async close(fd) {
      await call('close', [fd], { operation: 'close', subject: `descriptor ${fd}` });
    },
    closeSync(fd) {
      binding().callSync('close', [fd], { operation: 'close', subject: `descriptor ${fd}` });
    },
    readSync(fd, size) {
      const buffer = Buffer.alloc(size);
      const about = { operation: 'read', subject: `descriptor ${fd}` };
      try {
        const length = Number(binding().callSync('read', [fd, buffer, size], about));
        return length === 0 ? null : buffer.subarray(0, length);
      } catch (error) {
        if (error instanceof HostError && error.errno === 'ENODATA') return null;
        throw error;
      }
    },

    async ioctl(fd, request, argument, about) {
      const [name, args] = ioctlCall(fd, request, argument);
      return Number(await call(name, args, ioctlAbout(fd, about)));
    },
    ioctlSync(fd, request, argument, about) {
      const [name, args] = ioctlCall(fd, request, argument);
      return Number(binding().callSync(name, args, ioctlAbout(fd, about)));
    },
    async ioctlUrgent(fd, request, argument, about) {
      const [name, args] = ioctlCall(fd, request, argument);
      return Number(await urgent.run(() => binding().call(name, args, ioctlAbout(fd, about))));
    },
    async ficlone(targetFd, sourceFd) {
      const about = { operation: 'FICLONE', subject: `descriptor ${sourceFd} to ${targetFd}` };
      await call('ioctlValue', [targetFd, IOCTL.FICLONE, sourceFd], about);
    },
    lseek(fd, offset, whence) {
      return call('lseek', [fd, offset, whence], { operation: 'lseek', subject: `descriptor ${fd}` });
    },
    async copyFileRange(sourceFd, sourceOffset, targetFd, targetOffset, length) {
      const from = Buffer.alloc(8);
      from.writeBigInt64LE(sourceOffset);
      const to = Buffer.alloc(8);
      to.writeBigInt64LE(targetOffset);
      const number = numbersOfArch('copy_file_range').copy_file_range;
      const about = { operation: 'copy_file_range', subject: `descriptor ${sourceFd} to ${targetFd}` };
      return Number(await call('copyFileRange', [number, sourceFd, from, targetFd, to, length, 0], about));
    },

    statx: (path, flags) => statx(AT.FDCWD, path, flags, { operation: 'statx', subject: path }),
    fstatx: (fd) => statx(fd, '', AT.EMPTY_PATH, { operation: 'statx', subject: `descriptor ${fd}` }),
    async statfs(path) {
      const buffer = Buffer.alloc(STATFS_SIZE);
      await call('statfs', [path, buffer], { operation: 'statfs', subject: path });
      return decodeStatfs(buffer);
    },
    async fstatfs(fd) {
      const buffer = Buffer.alloc(STATFS_SIZE);
      await call('fstatfs', [fd, buffer], { operation: 'statfs', subject: `descriptor ${fd}` });
      return decodeStatfs(buffer);
    },
    async syncfs(fd, path) {
      await call('syncfs', [fd], { operation: 'syncfs', subject: path });
    },
    async fsync(fd, path) {
      await call('fsync', [fd], { operation: 'fsync', subject: path });
    },
    async mknod(path, mode, device) {
      const number = numbersOfArch('mknod').mknodat;
      const about = { operation: 'mknod', subject: path };
      await call('mknodat', [number, AT.FDCWD, path, mode, encodeDevice(device)], about);
    },

    async mount(source, target, fsType, flags, data) {
      await call('mount', [source, target, fsType, flags, data], { operation: 'mount', subject: target });
    },
    async umount2(target, flags) {
      await call('umount2', [target, flags], { operation: 'umount2', subject: target });
    },
    async umount2Urgent(target, flags) {
      const about = { operation: 'umount2', subject: target };
      await urgent.run(() => binding().call('umount2', [target, flags], about));
    },

    async openTree(path, flags) {
      const about = { operation: 'open_tree', subject: path };
      return Number(await call('openTree', [SYSCALL.open_tree, AT.FDCWD, path, flags], about));
    },
    async moveMount(fd, target) {
      const about = { operation: 'move_mount', subject: target };
      // Without MOVE_MOUNT_T_SYMLINKS: a link at `target` is refused, not followed.
      await call('moveMount', [SYSCALL.move_mount, fd, '', AT.FDCWD, target, MOVE_MOUNT.F_EMPTY_PATH], about);
    },
    async mountSetattr(fd, set, clear) {
      const attributes = encodeMountAttr(set, clear);
      const about = { operation: 'mount_setattr', subject: `descriptor ${fd}` };
      const args = [SYSCALL.mount_setattr, fd, '', AT.EMPTY_PATH, attributes, attributes.length];
      await call('mountSetattr', args, about);
    },
    async fsopen(fsType) {
      return Number(
        await call('fsopen', [SYSCALL.fsopen, fsType, FSOPEN.CLOEXEC], {
          operation: 'fsopen',
          subject: fsType,
        }),
      );
    },
    async fspick(path, flags) {
      const about = { operation: 'fspick', subject: path };
      return Number(await call('fspick', [SYSCALL.fspick, AT.FDCWD, path, flags], about));
    },
    async fsconfigSet(fd, key, value) {
      const command = value === undefined ? FSCONFIG.SET_FLAG : FSCONFIG.SET_STRING;
      const about = { operation: 'fsconfig', subject: value === undefined ? key : `${key}=${value}` };
      await call('fsconfig', [SYSCALL.fsconfig, fd, command, key, value ?? null, 0], about);
    },
    async fsconfigCommand(fd, command) {
      const subject = command === FSCONFIG.CMD_CREATE ? 'create' : 'reconfigure';
      const args = [SYSCALL.fsconfig, fd, command, null, null, 0];
      await call('fsconfig', args, { operation: 'fsconfig', subject });
    },
    async fsmount(fd, attributes) {
      const about = { operation: 'fsmount', subject: `descriptor ${fd}` };
      return Number(await call('fsmount', [SYSCALL.fsmount, fd, FSMOUNT.CLOEXEC, attributes], about));
    },
  };
}
