import * as fs from 'node:fs/promises';
import type { MountEntry, MountIdentity, Mounts, PathKind } from '../host';
import { asHostError } from '../linux/disks-errors';
import { parseWords } from '../linux/mounts-words';
import { bindSource, requireKind } from './bind-source';
import type { MemoryLoops } from './loops';
import { openSuperblock } from './open-superblock';
import type { SuperblockSet } from './superblock-set';
import { rootInodeOf, type Superblock, usageOf } from './superblocks';
import { failure, followedPlaceOf, HOST_MOUNT, type Mount, type MountTable, placeOf } from './table';

export interface MemoryMountsDependencies {
  table: MountTable;
  loops: MemoryLoops;
  superblocks: SuperblockSet;
}

/** Mounts that exist in a table only: nothing is ever asked of the kernel, files are where they always were. */
export function createMemoryMounts({ table, loops, superblocks }: MemoryMountsDependencies): Mounts {
  /** @throws HostError of the errno with which a dead mount answers. */
  function alive(mount: Mount | undefined, operation: string, path: string): Mount | undefined {
    if (mount?.dead !== undefined) throw failure(mount.dead, operation, path, 'the mount there is dead');
    return mount;
  }

  async function mountAt(path: string): Promise<Mount | undefined> {
    const place = await placeOf(path);
    return place === null ? undefined : table.at(place);
  }

  async function superblockOn(path: string, operation: string): Promise<Superblock> {
    const superblock = alive(await mountAt(path), operation, path)?.superblock;
    if (superblock !== undefined) return superblock;
    throw failure(
      'EINVAL',
      operation,
      path,
      'expected the root of a mount, but no filesystem is mounted there',
    );
  }

  function freezable(superblock: Superblock, operation: string, path: string): Superblock {
    if (superblock.fsType !== 'tmpfs') return superblock;
    throw failure('EOPNOTSUPP', operation, path, 'a tmpfs cannot be frozen');
  }

  function detach(mount: Mount): void {
    for (const child of [...mount.children]) detach(child);
    table.remove(mount);
    if (mount.superblock !== undefined) superblocks.drop(mount.superblock);
  }

  return {
    async look(path) {
      const mount = alive(await mountAt(path), 'statx', path);
      if (mount === undefined) return { kind: await kindAt(path), mount: null };
      const { device, rootInode, mountId } = identityOf(mount);
      return { kind: await kindAt(path), mount: { device, rootInode, mountId } };
    },

    async at(path) {
      const mount = alive(await mountAt(path), 'statx', path);
      return mount === undefined ? null : identityOf(mount);
    },

    async mount({ fsType, source, target, readOnly, options }) {
      const words = parseWords(options);
      const place = await requireKind('mount', target, 'folder');
      const onlyRead = readOnly || words.readOnly === true;
      const request = { fsType, source, target, readOnly: onlyRead, words };
      const superblock = await openSuperblock(request, loops, superblocks);
      table.add({
        mountPoint: place,
        superblock,
        device: superblock.device,
        rootInode: rootInodeOf(superblock),
        root: '/',
        readOnly: onlyRead,
        options: optionsOf(options, onlyRead),
        source,
      });
    },

    async bind({ source, target, readOnly, options }) {
      const bound = await bindSource(source, table, loops);
      const place = await requireKind('bind', target, bound.kind);
      const words = parseWords(options);
      const inherited = words.readOnly ?? bound.mount?.readOnly ?? false;
      const onlyRead = readOnly || inherited;
      const superblock = bound.mount?.superblock;
      if (superblock !== undefined) superblocks.use(superblock);
      table.add({
        mountPoint: place,
        superblock,
        device: bound.device,
        rootInode: bound.inode,
        root: bound.root,
        readOnly: onlyRead,
        options: optionsOf(options, onlyRead),
        source: bound.mount?.source ?? source,
      });
    },

    async unmount(target, { lazy = false } = {}) {
      const mount = await mountAt(target);
      if (mount === undefined) throw failure('EINVAL', 'umount2', target, 'nothing is mounted there');
      if (!lazy && (mount.children.size > 0 || table.isHeld(mount))) {
        const why = mount.children.size > 0 ? 'a mount below it' : 'an open file or a working directory';
        throw failure('EBUSY', 'umount2', target, `something on it is in use: ${why}`);
      }
      detach(mount);
    },

    async resizeTmpfs(target, sizeBytes) {
      const superblock = await superblockOn(target, 'resizeTmpfs');
      if (superblock.fsType !== 'tmpfs') {
        throw failure('EINVAL', 'resizeTmpfs', target, `expected a tmpfs, found ${superblock.fsType}`);
      }
      if (sizeBytes < usageOf(superblock).bytes.used) {
        throw failure('EINVAL', 'resizeTmpfs', target, 'tmpfs: Too small a size for current use');
      }
      superblock.sizeBytes = sizeBytes;
    },

    async usage(path) {
      const place = await placeOf(path);
      const superblock = alive(
        place === null ? undefined : table.covering(place),
        'statfs',
        path,
      )?.superblock;
      return superblock === undefined ? hostUsage(path) : usageOf(superblock);
    },

    async freeze(path) {
      const superblock = freezable(await superblockOn(path, 'FIFREEZE'), 'FIFREEZE', path);
      if (superblock.frozen) throw failure('EBUSY', 'FIFREEZE', path, 'it is frozen already');
      superblock.frozen = true;
    },

    async thaw(path) {
      const superblock = freezable(await superblockOn(path, 'FITHAW'), 'FITHAW', path);
      if (!superblock.frozen) throw failure('EINVAL', 'FITHAW', path, 'it is not frozen');
      superblock.frozen = false;
    },

    async sync(path) {
      if (loops.byPath(path) !== undefined) return;
      alive(table.covering(await followedPlaceOf(path, 'syncfs')), 'syncfs', path);
    },

    async list() {
      return table.all().map(entryOf);
    },
  };
}

function identityOf(mount: Mount): MountIdentity {
  return {
    device: mount.device,
    rootInode: mount.rootInode,
    mountId: mount.id,
    readOnly: mount.readOnly || mount.superblock?.readOnly === true,
  };
}

function entryOf(mount: Mount): MountEntry {
  const { superblock } = mount;
  return {
    mountId: mount.id,
    parentId: mount.parent?.id ?? HOST_MOUNT,
    device: mount.device,
    root: mount.root,
    mountPoint: mount.mountPoint,
    options: mount.options,
    fsType: superblock?.fsType ?? 'host',
    source: mount.source,
    superOptions: [superblock?.readOnly === true ? 'ro' : 'rw', ...(superblock?.options ?? [])],
    propagation: [],
  };
}

const PER_MOUNT = /^(no(suid|dev|exec|atime|diratime|symfollow)|relatime|strictatime)$/;

function optionsOf(options: readonly string[], readOnly: boolean): string[] {
  const words = options.flatMap((list) => list.split(','));
  return [readOnly ? 'ro' : 'rw', ...words.filter((word) => PER_MOUNT.test(word))];
}

async function hostUsage(path: string) {
  const stat = await fs.statfs(path, { bigint: true }).catch((error) => {
    throw asHostError('statfs', path, error);
  });
  const count = (total: bigint, free: bigint, available: bigint, unit: bigint) => {
    const used = total - free;
    return { total: total * unit, used: used * unit, available: available * unit };
  };
  return {
    bytes: count(stat.blocks, stat.bfree, stat.bavail, stat.bsize),
    inodes: count(stat.files, stat.ffree, stat.ffree, 1n),
  };
}

async function kindAt(path: string): Promise<PathKind> {
  const stat = await fs.lstat(path).catch(() => undefined);
  if (!stat) return 'missing';
  if (stat.isDirectory()) return 'folder';
  if (stat.isFile()) return 'file';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isBlockDevice() ? 'blockDevice' : 'other';
}
