import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { FILLING } from '../backends/tree-backends';
import type { LoopStatus, MountEntry } from '../host/host';
import { namesIn } from '../util/files';
import { keyOf } from '../util/keys';
import { DISK_NAME } from '../volumes/layout';
import type { Env } from './env';

/** What a start found and did, for the log and the journal. */
export interface Recovery {
  volumes: number;
  staged: number;
  published: number;
  /** One sentence each. */
  repaired: string[];
}

/**
 * Makes records and kernel agree after whatever ended the process before: what is half done is undone or finished, what
 * nobody refers to is removed, and all of it is reported. The mount table is read once, here and nowhere else.
 */
export async function recover(env: Env): Promise<Recovery> {
  const repaired: string[] = [];
  const thawed = await env.freezer.recover();
  if (thawed > 0) repaired.push(`thawed ${thawed} filesystems that a snapshot had frozen`);
  await removeUnfinished(env, repaired);
  await removeOrphanMembers(env, repaired);
  const mounts = env.node ? await env.host.mounts.list() : [];
  if (env.node) {
    const mountPoints = new Set(mounts.map((mount) => mount.mountPoint));
    const loops = await env.host.loops.list();
    await dropStaleRecords(env, mountPoints, loops, repaired);
    await sweepOwnMounts(env, mounts, repaired);
    await sweepLoops(env, mounts, loops, repaired);
  }
  return {
    volumes: env.volumes.size,
    staged: [...(env.node?.store.stages() ?? [])].length,
    published: [...(env.node?.store.publications() ?? [])].length,
    repaired,
  };
}

/** What a create or delete that was killed left. */
async function removeUnfinished(env: Env, repaired: string[]): Promise<void> {
  for (const [kind, store] of [
    ['volume', env.volumes],
    ['snapshot', env.snapshots],
    ['group snapshot', env.groups],
  ] as const)
    for (const folder of await store.sweep()) repaired.push(`removed ${folder}, an unfinished ${kind}`);
}

/** A group snapshot exists from its own record on; members without one were never answered for. */
async function removeOrphanMembers(env: Env, repaired: string[]): Promise<void> {
  for (const snapshot of [...env.snapshots.values()]) {
    if (snapshot.groupId === undefined) continue;
    if (groupExists(env, snapshot.groupId)) continue;
    await env.snapshots.remove(snapshot.id);
    repaired.push(`removed snapshot ${snapshot.id}, a member of a group snapshot that was never finished`);
  }
}

/** A group whose record cannot be read exists all the same. */
function groupExists(env: Env, groupId: string): boolean {
  try {
    return env.groups.find(groupId) !== undefined;
  } catch {
    return true;
  }
}

/** Records are written before the mount and removed after it, so a kill leaves a record without a mount, never the reverse. */
async function dropStaleRecords(
  env: Env,
  mountPoints: ReadonlySet<string>,
  loops: readonly LoopStatus[],
  repaired: string[],
): Promise<void> {
  const store = env.node?.store;
  if (!store) return;
  const attached = new Set(loops.map((loop) => loop.index));
  for (const publication of [...store.publications()]) {
    if (mountPoints.has(publication.targetPath)) continue;
    store.removePublication(publication.targetPath);
    repaired.push(
      `forgot the publication of ${publication.volumeId} at ${publication.targetPath}: nothing is mounted there`,
    );
  }
  for (const stage of [...store.stages()]) {
    const raw = stage.capability.accessType === 'block';
    const there = raw
      ? stage.loopIndex !== undefined && attached.has(stage.loopIndex)
      : mountPoints.has(stage.stagingPath);
    if (there) continue;
    store.removeStage(stage.volumeId);
    repaired.push(`forgot the stage of ${stage.volumeId} at ${stage.stagingPath}: nothing is mounted there`);
  }
}

/** Mounts under our own folder serve a stage of ours or a tmpfs volume; others are left over. */
async function sweepOwnMounts(env: Env, mounts: readonly MountEntry[], repaired: string[]): Promise<void> {
  const store = env.node?.store;
  if (!store) return;
  const wanted = new Set<string>();
  for (const stage of store.stages()) if (stage.implicit) wanted.add(stage.stagingPath);
  const under = mounts.filter((mount) => path.dirname(mount.mountPoint) === store.paths.mounts).reverse();
  for (const { mountPoint } of under) {
    if (wanted.has(mountPoint)) continue;
    const key = path.basename(mountPoint);
    const isTmpfsVolume = !key.endsWith('.stage') && !key.endsWith(FILLING);
    if (isTmpfsVolume && (await exists(`${env.layout.volumes}/${key}/volume.json`))) continue;
    await env.host.mounts.unmount(mountPoint);
    repaired.push(`unmounted ${mountPoint}, which served no volume`);
  }
  for (const name of namesIn(store.paths.mounts))
    await fs.rmdir(path.join(store.paths.mounts, name)).catch(() => undefined);
}

/** Loop devices over our disks that neither a mount nor a record of any node refers to. */
async function sweepLoops(
  env: Env,
  mounts: readonly MountEntry[],
  loops: readonly LoopStatus[],
  repaired: string[],
): Promise<void> {
  // A btrfs has a device number of its own in the table; its source tells the loop device.
  const mounted = new Set(
    mounts.flatMap((mount) => [`${mount.device.major}:${mount.device.minor}`, mount.source]),
  );
  for (const loop of loops) {
    const folder = path.dirname(loop.backing.path);
    const disk = path.basename(loop.backing.path);
    if (path.dirname(folder) !== env.layout.volumes || !disk.startsWith(DISK_NAME)) continue;
    if (
      mounted.has(`7:${loop.index}`) ||
      mounted.has(loop.path) ||
      (await anyNodeUses(env, path.basename(folder)))
    )
      continue;
    await env.host.loops.detach(loop.index);
    repaired.push(`detached ${loop.path} from ${loop.backing.path}: no stage uses it`);
  }
}

async function anyNodeUses(env: Env, volumeKey: string): Promise<boolean> {
  const own = env.node?.store;
  for (const stage of own?.stages() ?? []) if (keyOf(stage.volumeId) === volumeKey) return true;
  for (const node of env.nodes.others())
    if (await exists(`${env.layout.node(node.id).stages}/${volumeKey}.json`)) return true;
  return false;
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
