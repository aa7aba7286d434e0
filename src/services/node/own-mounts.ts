import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { LOOP_MAJOR, loopIndexOf } from '../../backends/disk-loops';
import { tmpfsSource } from '../../backends/tree-backends';
import type { Look, MountEntry, MountRoot } from '../../host/host';
import { sameDevice, splitDevice } from '../../util/device';
import { keyOf } from '../../util/keys';
import type { Env } from '../env';
import { ownNode } from './own-node';

/** A mount of a volume of ours. */
export interface OwnMount {
  /** The loop device mounted there, or whose node is bound there. */
  loopIndex?: number;
}

/**
 * Whether what is mounted at a path is a certain volume, told by what is mounted and not by a record: records can be
 * lost, and a path can be used by others.
 */
export async function ownMount(
  env: Env,
  volumeId: string,
  mountPoint: string,
  { mount, kind }: Look,
): Promise<OwnMount | undefined> {
  if (!mount) return undefined;
  const seen = ownNode(env).store.lastSeen(volumeId);
  // A bind of the staged mount: the same root of the same superblock.
  if (seen?.identity && isRoot(mount, seen.identity)) return withLoop(seen.loopIndex);
  if (mount.device.major === LOOP_MAJOR) return ifOver(env, volumeId, mount.device.minor);
  if (kind === 'blockDevice') return ownDeviceNode(env, volumeId, mountPoint);
  const { store } = ownNode(env);
  for (const folder of [env.layout.volume(volumeId).tree, `${store.paths.mounts}/${keyOf(volumeId)}`])
    if (await isFolder(mount, folder)) return {};
  return inTable(env, volumeId, mount);
}

function withLoop(loopIndex: number | undefined): OwnMount {
  return loopIndex === undefined ? {} : { loopIndex };
}

function isRoot(a: MountRoot, b: MountRoot): boolean {
  return a.rootInode === b.rootInode && sameDevice(a.device, b.device);
}

async function isFolder(mount: MountRoot, folder: string): Promise<boolean> {
  const stat = await fs.stat(folder, { bigint: true }).catch(() => undefined);
  return (
    stat !== undefined && stat.ino === mount.rootInode && sameDevice(splitDevice(stat.dev), mount.device)
  );
}

/** A loop device is a volume's by the file behind it, also when that file has been removed. */
async function ifOver(env: Env, volumeId: string, loopIndex: number): Promise<OwnMount | undefined> {
  const at = env.layout.volume(volumeId);
  for (const backend of env.backends.values())
    if (await backend.loopOver(loopIndex, at)) return { loopIndex };
  const status = await env.host.loops.status(loopIndex);
  return status && path.dirname(status.backing.path) === at.folder ? { loopIndex } : undefined;
}

/**
 * A bound device node keeps nothing: the loop device may have been detached, and its number given to somebody else. What
 * we bound there is ours to unbind all the same.
 */
async function ownDeviceNode(env: Env, volumeId: string, mountPoint: string): Promise<OwnMount | undefined> {
  const device = splitDevice((await fs.lstat(mountPoint, { bigint: true })).rdev);
  if (device.major !== LOOP_MAJOR) return undefined;
  const found = await ifOver(env, volumeId, device.minor);
  if (found) return found;
  const record = ownNode(env).store.publication(mountPoint);
  return record?.volumeId === volumeId && record.capability.accessType === 'block' ? {} : undefined;
}

/** The last word is the mount table's, for what has lost everything else that tells it: it costs a walk over all mounts. */
async function inTable(env: Env, volumeId: string, mount: MountRoot): Promise<OwnMount | undefined> {
  const entry = (await env.host.mounts.list()).find(({ mountId }) => mountId === mount.mountId);
  if (!entry) return undefined;
  const loopIndex = loopIndexOf(entry.source);
  if (loopIndex !== undefined) return ifOver(env, volumeId, loopIndex);
  return isTree(env, volumeId, entry) || entry.source === tmpfsSource(volumeId) ? {} : undefined;
}

/** The volume's folder, or what is left of it: the kernel writes `//deleted` behind the root of a removed one. */
function isTree(env: Env, volumeId: string, { root }: MountEntry): boolean {
  // The root is a path within its filesystem, which may be mounted anywhere: the end tells.
  const tree = path.relative(env.layout.root, env.layout.volume(volumeId).tree);
  return root.replace(/\/\/deleted$/, '').endsWith(`/${tree}`);
}
