import * as fs from 'node:fs';
import * as path from 'node:path';
import { LOOP_MAJOR, loopIndexOf } from '../../backends/disk-loops';
import type { DeviceNumber, LoopStatus, MountEntry } from '../../host/host';
import { mountHolding } from '../../host/mount-holding';
import { sameDevice, splitDevice } from '../../util/device';
import { type DataFolder, fileKey } from './data-folder';

const DELETED = ' (deleted)';
const KEY = '[0-9a-f]{32}';

/** Whether it is worth asking, by the path that the kernel tells: another container has the folder at another place. */
export function mayBeOurs(file: string, { root, fileNames }: DataFolder): boolean {
  return file.startsWith(`${root}/`) || fileNames.has(path.basename(file));
}

/**
 * Whether a loop device is over a file of the folder: one that is there by its inode; one that was deleted by its whole
 * name, of a form that only a driver makes.
 */
export function isOurLoop({ backing }: LoopStatus, folder: DataFolder): boolean {
  if (folder.files.has(fileKey(backing.device, backing.inode))) return true;
  if (!backing.path.endsWith(DELETED) || !backing.path.startsWith(`${folder.root}/`)) return false;
  const inside = backing.path.slice(folder.root.length, -DELETED.length);
  return new RegExp(`^/(volumes|snapshots)/${KEY}/[^/]+$|^/(nodes/[^/]+/)?undo/[^/]+/[^/]+$`).test(inside);
}

/** The mounts of volumes in the folder, in the order of the table. */
export function ourMounts(
  table: readonly MountEntry[],
  loops: ReadonlySet<number>,
  folder: DataFolder,
): MountEntry[] {
  const trees = treesOf(table, folder);
  return table.filter(
    (entry) =>
      isOfLoop(entry, loops) || isRawDevice(entry, loops) || isOurTmpfs(entry, table, folder) || trees(entry),
  );
}

/** btrfs has device numbers of its own; its source is the kernel's word for the device. */
export function loopOf({ device, fsType, source }: MountEntry): number | undefined {
  if (device.major === LOOP_MAJOR) return device.minor;
  return fsType === 'btrfs' ? loopIndexOf(source) : undefined;
}

function isOfLoop(entry: MountEntry, loops: ReadonlySet<number>): boolean {
  const index = loopOf(entry);
  return index !== undefined && loops.has(index);
}

/** A raw block volume: the node of the device, bound over a file. Asked only where the name says so: a stat may hang. */
function isRawDevice({ root, mountPoint }: MountEntry, loops: ReadonlySet<number>): boolean {
  const index = Number(/(?:^|\/)loop(\d+)$/.exec(root)?.[1] ?? Number.NaN);
  if (!loops.has(index)) return false;
  const stat = fs.statSync(mountPoint, { bigint: true, throwIfNoEntry: false });
  return (
    stat?.isBlockDevice() === true &&
    sameDevice(splitDevice(stat.rdev), { major: LOOP_MAJOR, minor: index } satisfies DeviceNumber)
  );
}

/**
 * A volume's tmpfs says whose it is in its source. Two folders may have volumes of one id: then where its own mount point is
 * decides.
 */
function isOurTmpfs(
  { fsType, source, device }: MountEntry,
  table: readonly MountEntry[],
  folder: DataFolder,
): boolean {
  const key = new RegExp(`^fake-csi-(${KEY})$`).exec(source)?.[1];
  if (fsType !== 'tmpfs' || key === undefined) return false;
  const homes = table
    .filter((one) => sameDevice(one.device, device))
    .map(({ mountPoint }) => mountPoint)
    .filter((place) => new RegExp(`/nodes/[^/]+/mounts/${key}(\\.filling)?$`).test(place));
  if (homes.length > 0) return homes.some((place) => place.startsWith(`${folder.layout.nodes}/`));
  return fs.existsSync(path.join(folder.layout.volumes, key));
}

/** Binds of folders of volumes, by where those lie in their own filesystem: a table names a bind's root by that. */
function treesOf(table: readonly MountEntry[], folder: DataFolder): (entry: MountEntry) => boolean {
  if (!folder.exists) return () => false;
  const home = mountHolding(table, folder.root);
  if (!home) return () => false;
  const inFilesystem = path.join(home.root, path.relative(home.mountPoint, folder.root));
  const volumes = path.join(inFilesystem, 'volumes');
  const tree = new RegExp(`^/${KEY}/tree(/|$)`);
  return ({ device, root }) =>
    sameDevice(device, home.device) &&
    root.startsWith(`${volumes}/`) &&
    tree.test(root.slice(volumes.length));
}
