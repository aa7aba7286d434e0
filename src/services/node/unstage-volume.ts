import * as fs from 'node:fs/promises';
import { failedPrecondition } from '../../csi/status';
import { UnreadableRecord } from '../../volumes/record-file';
import type { VolumeRecord } from '../../volumes/records';
import type { Call, Env } from '../env';
import { lookThroughDead } from './dead-mounts';
import { isShared, lockDisk } from './disk-sharing';
import { ownMount } from './own-mounts';
import { ownNode } from './own-node';

/**
 * Takes a volume from its staging path and forgets its stage. It goes by what is mounted: the record may be lost, and so
 * may the volume's own.
 * @throws CsiError FAILED_PRECONDITION for a mount that is not the volume, StillInUse when its disk is still held.
 */
export async function unstageVolume(env: Env, volumeId: string, path: string, call: Call): Promise<void> {
  const { store } = ownNode(env);
  const stage = store.stage(volumeId);
  const ours = stage?.stagingPath === path;
  const unlock = await lock(env, volumeId);
  try {
    await call.point('beforeUnmount');
    const loops = await unmountAll(env, volumeId, path, call);
    if (stage && !ours) return;
    for (const known of [stage?.loopIndex, store.heldLoop(volumeId)])
      if (known !== undefined) loops.add(known);
    await release(env, volumeId, loops, call);
    await call.point('released');
    if (stage?.implicit) await fs.rmdir(path).catch(() => undefined);
    store.removeStage(volumeId);
  } finally {
    await unlock();
  }
}

/** Earlier drivers and other tools stack mounts: all of the volume's go. @returns the loop devices they were on. */
async function unmountAll(env: Env, volumeId: string, path: string, call: Call): Promise<Set<number>> {
  const loops = new Set<number>();
  for (;;) {
    const look = await lookThroughDead(env, path, call);
    if (!look.mount) break;
    const own = await ownMount(env, volumeId, path, look);
    if (!own)
      throw failedPrecondition(
        `something that is not volume ${volumeId} is mounted at ${path}; unmount it, it is not this driver's to remove`,
      );
    await env.host.mounts.unmount(path);
    call.effect(`unmounted ${path}`);
    if (own.loopIndex !== undefined) loops.add(own.loopIndex);
  }
  await call.point('unmounted');
  return loops;
}

async function release(env: Env, volumeId: string, loops: Set<number>, call: Call): Promise<void> {
  if (loops.size === 0 || isShared(env, volumeId)) return;
  const { store } = ownNode(env);
  try {
    for (const backend of env.backends.values())
      if (backend.blockImage) await backend.release(loops, env.layout.volume(volumeId), call);
  } catch (error) {
    // Whoever stages the volume next must use the device that is still alive.
    for (const index of loops) store.holdLoop(volumeId, index);
    throw error;
  }
}

async function lock(env: Env, volumeId: string): Promise<() => Promise<void>> {
  const volume = knownVolume(env, volumeId);
  return volume ? lockDisk(env, volume) : async () => undefined;
}

/** The volume's record, if it can be had: a volume is taken down without it. */
export function knownVolume(env: Env, volumeId: string): VolumeRecord | undefined {
  try {
    return env.volumes.find(volumeId);
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    env.log.warn({ volume_id: volumeId }, error.message);
    return undefined;
  }
}
