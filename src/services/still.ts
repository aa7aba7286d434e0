import * as fs from 'node:fs/promises';
import { failedPrecondition } from '../csi/status';
import type { FsType } from '../host/host';
import { ensureFolder } from '../util/files';
import type { Freezable, Reached } from '../volumes/freezer';
import type { StageRecord, VolumeRecord } from '../volumes/records';
import { backendOf, type Env } from './env';
import { stagedElsewhere } from './staged-elsewhere';

/**
 * Runs `work` while the bytes of all `volumes` stand still: mounted filesystems are frozen, raw devices flushed. Several
 * volumes are cut at one instant.
 * @throws CsiError FAILED_PRECONDITION when one cannot be held still and would be torn: as a member of a group, or in use on
 *   another machine.
 */
export async function holdStill<T>(
  env: Env,
  volumes: readonly VolumeRecord[],
  work: () => Promise<T>,
): Promise<T> {
  const frozen: Freezable[] = [];
  for (const volume of volumes) {
    const use = useOf(env, volume);
    if (!use) continue;
    const { blockImage } = backendOf(env, volume);
    if (!blockImage) checkTree(volume, use, volumes.length > 1);
    else if (use.stage.readOnly || !(await isAttached(env, volume, use))) continue;
    else if (!use.sameKernel)
      throw notStill(volume, `is staged writable on node ${use.nodeId}, another machine`);
    else if (use.stage.capability.accessType === 'mount') frozen.push(freezable(env, volume, use));
    else {
      if (volumes.length > 1 && use.published)
        throw notStill(volume, 'is a raw device that is published, whose writes nothing stops');
      await flush(env, use.stage);
    }
  }
  return env.freezer.withFrozen(frozen, work);
}

interface Use {
  nodeId: string;
  stage: StageRecord;
  own: boolean;
  sameKernel: boolean;
  /** Somebody may be writing. Of another node it is not known, and taken for true. */
  published: boolean;
}

/** Where a volume is staged: on this process's node, or else on another one, a writer first. */
function useOf(env: Env, volume: VolumeRecord): Use | undefined {
  const uses: Use[] = stagedElsewhere(env, volume.id).map((other) => ({
    ...other,
    own: false,
    published: true,
  }));
  const stage = env.node?.store.stage(volume.id);
  if (env.node && stage) {
    const published = env.node.store.publicationsOf(volume.id).length > 0;
    uses.unshift({ nodeId: env.node.record.id, stage, own: true, sameKernel: true, published });
  }
  return uses.find((use) => !use.stage.readOnly) ?? uses[0];
}

/** A stage whose mounts were all removed behind the driver's back writes nothing any more. */
async function isAttached(env: Env, volume: VolumeRecord, { stage, sameKernel }: Use): Promise<boolean> {
  if (!sameKernel) return true;
  const { loopIndex } = stage;
  return loopIndex !== undefined && backendOf(env, volume).loopOver(loopIndex, env.layout.volume(volume.id));
}

function checkTree(volume: VolumeRecord, use: Use, inGroup: boolean): void {
  if (!use.own && volume.backend === 'tmpfs')
    throw notStill(volume, `has its files in the memory of node ${use.nodeId}`);
  if (inGroup) throw notStill(volume, `(backend ${volume.backend}) is staged on node ${use.nodeId}`);
}

function notStill(volume: VolumeRecord, why: string): Error {
  return failedPrecondition(
    `volume ${volume.id} ${why}, so it cannot be held still and copied from here; unpublish and unstage it first`,
  );
}

/** What was written to a raw device is in the kernel's cache of the device, not yet in the file that is copied. */
async function flush(env: Env, stage: StageRecord): Promise<void> {
  const device = stage.loopIndex === undefined ? null : await env.host.loops.open(stage.loopIndex);
  if (!device) return;
  try {
    await env.host.mounts.sync(device.path);
  } finally {
    await device.release();
  }
}

function freezable(env: Env, volume: VolumeRecord, { stage, own }: Use): Freezable {
  const file = env.layout.volume(volume.id).disk;
  const disk = { file, loopIndex: stage.loopIndex, fsType: stage.fsType as FsType };
  return {
    key: volume.id,
    async reach() {
      const path = own ? await ownMountOf(env, volume, stage) : undefined;
      if (path !== undefined) return { path, disk, leave: async () => undefined };
      return { disk, ...(await mountBeside(env, volume, stage)) };
    },
  };
}

/** The stage of this node, or a target where that is unmounted: all show one superblock. */
async function ownMountOf(env: Env, volume: VolumeRecord, stage: StageRecord): Promise<string | undefined> {
  const targets = env.node?.store.publicationsOf(volume.id).map((record) => record.targetPath) ?? [];
  for (const path of [stage.stagingPath, ...targets]) if (await env.host.mounts.at(path)) return path;
  return undefined;
}

/**
 * A mount of another node of this machine is in a namespace of its own; one more mount of the same device reaches the same
 * superblock.
 */
async function mountBeside(
  env: Env,
  volume: VolumeRecord,
  stage: StageRecord,
): Promise<Pick<Reached, 'path' | 'leave'>> {
  const loop = stage.loopIndex === undefined ? null : await env.host.loops.open(stage.loopIndex);
  if (!loop) throw notStill(volume, `is staged at ${stage.stagingPath}, but its device is gone`);
  const path = env.freezer.placeFor(volume.id);
  ensureFolder(path, 0o700);
  try {
    await env.host.mounts.mount({
      fsType: stage.fsType,
      source: loop.path,
      target: path,
      readOnly: false,
      options: [],
    });
  } catch (error) {
    await fs.rmdir(path).catch(() => undefined);
    throw error;
  } finally {
    await loop.release();
  }
  const leave = async () => {
    await env.host.mounts.unmount(path);
    await fs.rmdir(path);
  };
  return { path, leave };
}
