import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { DeviceNumber } from '../host';
import { asHostError } from '../linux/disks-errors';
import { deviceNumber, type MemoryLoops } from './loops';
import { failure, type Mount, type MountTable } from './table';

export type Kind = 'folder' | 'file';

export interface BindSource {
  kind: Kind;
  /** The mount the source is on; undefined for files of the machine itself. */
  mount: Mount | undefined;
  device: DeviceNumber;
  inode: bigint;
  root: string;
}

/** Where device nodes lie on Linux: a filesystem of its own, whose number a bound node tells. */
const DEVTMPFS: DeviceNumber = { major: 0, minor: 6 };

/** What a bind of `source` shows: the same device and inode as the source has, which is how a bind is recognised. */
export async function bindSource(source: string, table: MountTable, loops: MemoryLoops): Promise<BindSource> {
  const loop = loops.byPath(source);
  if (loop !== undefined) {
    const inode = BigInt(1000 + loop.index);
    return { kind: 'file', mount: undefined, device: DEVTMPFS, inode, root: `/${path.basename(source)}` };
  }
  try {
    const place = await fs.realpath(source);
    const stats = await fs.stat(place, { bigint: true });
    const kind = stats.isDirectory() ? 'folder' : 'file';
    const mount = table.covering(place);
    if (mount === undefined) {
      return { kind, mount, device: deviceNumber(stats.dev), inode: stats.ino, root: place };
    }
    if (mount.dead !== undefined) throw failure(mount.dead, 'bind', source, 'the mount there is dead');
    const inside = path.relative(mount.mountPoint, place);
    const root = path.posix.join(mount.root, inside);
    const inode = inside === '' ? mount.rootInode : stats.ino;
    return { kind, mount, device: mount.device, inode, root };
  } catch (error) {
    throw asHostError('bind', source, error);
  }
}

/**
 * The place of a mount's target, which has to be there and of the right kind, and no link.
 * @throws HostError ENOENT, ENOTDIR.
 */
export async function requireKind(operation: string, target: string, kind: Kind): Promise<string> {
  try {
    const stats = await fs.lstat(target);
    if (stats.isDirectory() !== (kind === 'folder') || stats.isSymbolicLink()) {
      throw failure('ENOTDIR', operation, target, `the mount point has to be a ${kind}`);
    }
    return await fs.realpath(target);
  } catch (error) {
    throw asHostError(operation, target, error);
  }
}
