import { promises as fs } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HostError, type Look, type Mounts, type PathKind, type Usage } from '../host';
import {
  type AsyncCalls,
  AT,
  describeErrno,
  IOCTL,
  isErrno,
  type Libc,
  O,
  S_IF,
  ST,
  STATX_ATTR,
  type Statfs,
  UMOUNT,
} from '../libc';
import { parseMountinfo } from './mountinfo';
import { type MountApi, MountApiMissing } from './mounts-api';
import { createClassicApi } from './mounts-classic';
import { createContextApi } from './mounts-context';
import { unknownType } from './mounts-explain';
import { checkTarget, kindOf } from './mounts-target';
import { parseWords } from './mounts-words';

export interface MountsOptions {
  /** `context`: fsopen(2) and its family; `classic`: mount(2); `auto` (default): the first where it is to be had. */
  api?: 'auto' | 'context' | 'classic';
}

const PATH_KINDS: ReadonlyMap<number, PathKind> = new Map([
  [S_IF.DIR, 'folder'],
  [S_IF.REG, 'file'],
  [S_IF.LNK, 'link'],
  [S_IF.BLK, 'blockDevice'],
]);

/** A mount is busy also while somebody is in a statfs(2) of it: who asks for statistics must not make an unmount fail. */
const BUSY_PAUSES_MS = [2, 10, 50];

/** What the kernel could be asked to load a module for; anything else is no filesystem type. */
const FS_TYPE = /^[a-z0-9][a-z0-9_.-]*$/i;

export function createMounts(libc: Libc, options: MountsOptions = {}): Mounts {
  const withApi = chooseApi(libc, options.api ?? 'auto');

  async function look(path: string): Promise<Look> {
    let found: Awaited<ReturnType<Libc['statx']>>;
    try {
      found = await libc.statx(path, AT.SYMLINK_NOFOLLOW | AT.NO_AUTOMOUNT);
    } catch (error) {
      // ELOOP: a path whose folders are links that go round leads to nothing.
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return { kind: 'missing', mount: null };
      throw error;
    }
    if ((found.attributesMask & STATX_ATTR.MOUNT_ROOT) === 0n) {
      throw new HostError(
        'ENOSYS',
        'statx',
        `statx: ${path}: cannot tell mounts; Linux 5.8 or later is needed`,
      );
    }
    const kind = PATH_KINDS.get(found.mode & S_IF.MT) ?? 'other';
    if ((found.attributes & STATX_ATTR.MOUNT_ROOT) === 0n) return { kind, mount: null };
    const { device, inode, mountId } = found;
    return { kind, mount: { device, rootInode: inode, mountId } };
  }

  return {
    look,

    async at(path) {
      const { mount } = await look(path);
      if (mount === null) return null;
      // Only statfs(2) joins the flags of the mount and of the superblock.
      const { flags } = await libc.statfs(path);
      return { ...mount, readOnly: (flags & BigInt(ST.RDONLY)) !== 0n };
    },

    async mount({ fsType, source, target, readOnly, options: given }) {
      const words = parseWords(given);
      if (!FS_TYPE.test(fsType)) {
        throw unknownType({ fsType, source, target });
      }
      // What fsconfig(2) takes the device by: a second one is no option of the filesystem.
      if (words.filesystem.some(({ key }) => key === 'source'))
        throw new HostError(
          'EINVAL',
          'mount',
          `mount: ${target}: EINVAL: the source is not an option`,
          'source',
        );
      await withApi((api) => api.mount({ fsType, source, target, readOnly, words }));
    },

    async bind({ source, target, readOnly, options: given }) {
      const words = parseWords(given);
      try {
        await withApi((api) => api.bind({ source, target, readOnly, words }));
      } catch (error) {
        throw error instanceof HostError ? await explainBind(libc, error, source, target) : error;
      }
    },

    async unmount(target, { lazy = false } = {}) {
      // A lazy unmount waits for nothing, and is what gets rid of a mount whose calls hang.
      const calls = lazy ? libc.urgent : libc;
      const flags = UMOUNT.NOFOLLOW | (lazy ? UMOUNT.DETACH : 0);
      for (const pauseMs of [...BUSY_PAUSES_MS, undefined])
        try {
          return await calls.umount2(target, flags);
        } catch (error) {
          if (!isErrno(error, 'EBUSY') || pauseMs === undefined)
            throw error instanceof HostError ? explainUnmount(error, target) : error;
          await sleep(pauseMs);
        }
    },

    resizeTmpfs: (target, sizeBytes) => withApi((api) => api.resizeTmpfs(target, sizeBytes)),

    async usage(path) {
      return usageOf(await libc.statfs(path));
    },

    freeze: (path) =>
      withOpen(libc, path, async (fd) => {
        // Anywhere else this would stop the filesystem the folder is on: the machine's own, where nothing is mounted.
        if (((await libc.fstatx(fd)).attributes & STATX_ATTR.MOUNT_ROOT) === 0n) throw nothingToFreeze(path);
        await libc.ioctl(fd, IOCTL.FIFREEZE, 0, { operation: 'FIFREEZE', subject: path });
      }),

    // A thaw is what lets hung calls go on: it must not queue behind them.
    thaw: (path) =>
      withOpen(libc.urgent, path, async (fd) => {
        await libc.urgent.ioctl(fd, IOCTL.FITHAW, 0, { operation: 'FITHAW', subject: path });
      }),

    sync: (path) =>
      withOpen(libc, path, async (fd) => {
        const isFolder = ((await libc.fstatx(fd)).mode & S_IF.MT) === S_IF.DIR;
        await (isFolder ? libc.syncfs(fd, path) : libc.fsync(fd, path));
      }),

    async list() {
      return parseMountinfo(await fs.readFile('/proc/self/mountinfo', 'utf8'));
    },
  };
}

function chooseApi(libc: Libc, choice: 'auto' | 'context' | 'classic') {
  const context = createContextApi(libc);
  const classic = createClassicApi(libc);
  let contextMissing = choice === 'classic';
  return async (use: (api: MountApi) => Promise<void>): Promise<void> => {
    if (contextMissing) return use(classic);
    try {
      return await use(context);
    } catch (error) {
      if (!(error instanceof MountApiMissing)) throw error;
      if (choice === 'context') {
        throw new HostError(error.errno, error.call, `${error.call}: ${describeErrno(error.errno)}`);
      }
      if (error.errno === 'ENOSYS') contextMissing = true;
      return use(classic);
    }
  };
}

async function explainBind(libc: Libc, error: HostError, source: string, target: string): Promise<HostError> {
  const text = `bind: ${target}: ${describeErrno(error.errno)}: of ${source}`;
  const sourceKind = await kindOf(libc, source).catch(() => undefined);
  if (sourceKind === null) return new HostError('ENOENT', 'bind', `${text}: the source does not exist`);
  if (sourceKind === 'folder' || sourceKind === 'other') await checkTarget(libc, 'bind', target, sourceKind);
  const reasons: Readonly<Record<string, string>> = {
    EINVAL: 'the source is not mounted in this mount namespace, or is unbindable',
    EPERM: 'mounting asks for CAP_SYS_ADMIN',
  };
  const reason = reasons[error.errno];
  return new HostError(error.errno, 'bind', reason === undefined ? text : `${text}: ${reason}`);
}

function explainUnmount(error: HostError, target: string): HostError {
  const reasons: Readonly<Record<string, string>> = {
    EINVAL: 'nothing is mounted there',
    EBUSY: 'something on it is in use: an open file, a working directory, a mount below it',
    EPERM: 'unmounting asks for CAP_SYS_ADMIN',
  };
  const reason = reasons[error.errno];
  const text = `umount2: ${target}: ${describeErrno(error.errno)}`;
  return new HostError(error.errno, 'umount2', reason === undefined ? text : `${text}: ${reason}`);
}

async function withOpen(calls: AsyncCalls, path: string, use: (fd: number) => Promise<void>): Promise<void> {
  const fd = await calls.open(path, O.RDONLY | O.NONBLOCK);
  try {
    await use(fd);
  } finally {
    await calls.close(fd);
  }
}

function nothingToFreeze(path: string): HostError {
  return new HostError(
    'EINVAL',
    'FIFREEZE',
    `FIFREEZE: ${path}: EINVAL: expected the root of a mount, but nothing is mounted there`,
  );
}

function usageOf(stat: Statfs): Usage {
  const count = (total: bigint, free: bigint, available: bigint, unit: bigint) => {
    // A filesystem is free to answer anything (btrfs estimates, FUSE makes it up): the sum must hold all the same.
    const used = free > total ? 0n : total - free;
    const usable = available > total - used ? total - used : available;
    return { total: total * unit, used: used * unit, available: usable * unit };
  };
  return {
    bytes: count(stat.blocks, stat.blocksFree, stat.blocksAvailable, stat.fragmentSize),
    inodes: count(stat.files, stat.filesFree, stat.filesFree, 1n),
  };
}
