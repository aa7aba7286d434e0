import { recoverConditions } from '../faults/disk/place';
import type { Env } from './env';
import { recoverNode } from './recovery-node';

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
 * nobody refers to is removed, and all of it is reported. The mount table is read here and nowhere else on the usual way.
 */
export async function recover(env: Env): Promise<Recovery> {
  const repaired: string[] = [];
  const thawed = await env.freezer.recover();
  if (thawed > 0) repaired.push(`thawed ${thawed} filesystems that a snapshot had frozen`);
  await removeUnfinished(env, repaired);
  await removeOrphanMembers(env, repaired);
  if (env.node) repaired.push(...(await recoverConditions(env.host, env.node.store.paths.undo)));
  if (env.node) await recoverNode(env, env.node.store, repaired);
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
