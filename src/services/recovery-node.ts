import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { FILLING } from '../backends/tree-backends';
import type { MountEntry } from '../host/host';
import { namesIn } from '../util/files';
import type { NodeStore } from '../volumes/node-store';
import type { StageRecord } from '../volumes/records';
import { backendOf, type Call, type Env } from './env';
import { undoImplicit } from './node/publish';
import { unstageVolume } from './node/unstage-volume';
import { sweepLoops } from './recovery-loops';

/** Brings what this node has staged and published into agreement with the mount table and the loop devices. */
export async function recoverNode(env: Env, store: NodeStore, repaired: string[]): Promise<void> {
  await finishGrowing(env, store, repaired);
  const table = new MountTable(env, repaired);
  await dropStaleRecords(env, store, await table.read(), repaired);
  await endAbandoned(env, store, repaired);
  await sweepOwnMounts(env, store, await table.read(), repaired);
  await sweepLoops(env, store, await table.read(), repaired);
}

/** The mount table of the start: long with many volumes, so read again only when a repair has been told of since. */
class MountTable {
  private mounts: readonly MountEntry[] = [];
  private readAt: number | undefined;

  constructor(
    private readonly env: Env,
    private readonly repaired: readonly string[],
  ) {}

  async read(): Promise<readonly MountEntry[]> {
    if (this.readAt !== this.repaired.length) {
      this.mounts = await this.env.host.mounts.list();
      this.readAt = this.repaired.length;
    }
    return this.mounts;
  }
}

/** A stage that was unmounted for growing when the process was killed: the CO believes it mounted. */
async function finishGrowing(env: Env, store: NodeStore, repaired: string[]): Promise<void> {
  for (const stage of [...store.stages()]) {
    if (stage.remount === undefined) continue;
    const what = `mount ${stage.volumeId} again at ${stage.stagingPath}, where it was being grown`;
    await attempt(repaired, what, async () => {
      const mounted = (await env.host.mounts.look(stage.stagingPath)).mount !== null;
      const backend = backendOf(env, { id: stage.volumeId, backend: stage.backend });
      const at = env.layout.volume(stage.volumeId);
      const facts = mounted ? { remount: undefined } : await backend.remount(stage, at);
      await store.putStage({ ...stage, ...facts });
      return !mounted;
    });
  }
}

/** One repair, told of when it did something. A start must not fail because of one that cannot be made. */
async function attempt(repaired: string[], what: string, work: () => Promise<boolean>): Promise<void> {
  try {
    if (await work()) repaired.push(`repaired: ${what}`);
  } catch (error) {
    repaired.push(`could not ${what}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Records are written before the mount and removed after it, so a kill leaves a record without a mount, never the reverse. */
async function dropStaleRecords(
  env: Env,
  store: NodeStore,
  mounts: readonly MountEntry[],
  repaired: string[],
): Promise<void> {
  const mountPoints = new Set(mounts.map((mount) => mount.mountPoint));
  for (const { volumeId, targetPath } of [...store.publications()]) {
    if (await isMountPoint(mountPoints, targetPath)) continue;
    store.removePublication(targetPath);
    repaired.push(`forgot the publication of ${volumeId} at ${targetPath}: nothing is mounted there`);
  }
  for (const stage of [...store.stages()]) {
    if (await isThere(env, stage, mountPoints)) continue;
    store.removeStage(stage.volumeId);
    repaired.push(`forgot the stage of ${stage.volumeId} at ${stage.stagingPath}: nothing is mounted there`);
  }
}

/** By the mount table, which never hangs; it has real paths, and a CO's root folder is often a symbolic link. */
async function isMountPoint(mountPoints: ReadonlySet<string>, name: string): Promise<boolean> {
  if (mountPoints.has(name)) return true;
  const parent = await fs.realpath(path.dirname(name)).catch(() => undefined);
  return parent !== undefined && mountPoints.has(path.join(parent, path.basename(name)));
}

async function isThere(env: Env, stage: StageRecord, mountPoints: ReadonlySet<string>): Promise<boolean> {
  if (stage.capability.accessType === 'mount') return isMountPoint(mountPoints, stage.stagingPath);
  const at = env.layout.volume(stage.volumeId);
  const backend = env.backends.get(stage.backend);
  if (!backend || stage.loopIndex === undefined) return false;
  return backend.loopOver(stage.loopIndex, at);
}

/** What was made for a publish that never came to be, or whose end nobody will ask for. */
async function endAbandoned(env: Env, store: NodeStore, repaired: string[]): Promise<void> {
  const call = silentCall((effect) => repaired.push(effect));
  for (const stage of [...store.stages()]) {
    if (store.publicationsOf(stage.volumeId).length > 0) continue;
    // A kubelet does not unstage a raw device whose staging folder is gone.
    const forgotten = stage.capability.accessType === 'block' && !existsSync(stage.stagingPath);
    if (!stage.implicit && !forgotten) continue;
    await attempt(repaired, `end the stage of ${stage.volumeId}, which nobody uses`, async () => {
      await unstageVolume(env, stage.volumeId, stage.stagingPath, call);
      return true;
    });
  }
  for (const volume of [...env.volumes.values()])
    if (volume.origin === 'ephemeral' && store.publicationsOf(volume.id).length === 0)
      await attempt(repaired, `remove the inline volume ${volume.id}, which no pod has`, async () => {
        await undoImplicit(env, volume.id, call);
        return true;
      });
}

function silentCall(effect: (text: string) => void): Call {
  return {
    method: 'NodeUnstageVolume',
    signal: new AbortController().signal,
    effect,
    point: async () => undefined,
  };
}

/** Mounts under our own folder serve a stage of ours or a tmpfs volume; others are left over. */
async function sweepOwnMounts(
  env: Env,
  store: NodeStore,
  mounts: readonly MountEntry[],
  repaired: string[],
): Promise<void> {
  const wanted = new Set<string>();
  for (const stage of store.stages()) if (stage.implicit) wanted.add(stage.stagingPath);
  const under = mounts.filter((mount) => path.dirname(mount.mountPoint) === store.paths.mounts).reverse();
  for (const { mountPoint } of under) {
    if (wanted.has(mountPoint)) continue;
    const key = path.basename(mountPoint);
    const isTmpfsVolume = !key.endsWith('.stage') && !key.endsWith(FILLING);
    if (isTmpfsVolume && existsSync(`${env.layout.volumes}/${key}`)) continue;
    await attempt(repaired, `unmount ${mountPoint}, which serves no volume`, async () => {
      await env.host.mounts.unmount(mountPoint);
      return true;
    });
  }
  for (const name of namesIn(store.paths.mounts))
    await fs.rmdir(path.join(store.paths.mounts, name)).catch(() => undefined);
}
