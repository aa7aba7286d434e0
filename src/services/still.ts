import { failedPrecondition } from '../csi/status';
import type { VolumeRecord } from '../volumes/records';
import { backendOf, type Env } from './env';
import { stagedElsewhere } from './staged-elsewhere';

/**
 * Runs `work` while the bytes of all `volumes` stand still on this node: mounted filesystems are frozen, raw devices
 * flushed. Several volumes are cut at one instant.
 * @throws CsiError FAILED_PRECONDITION when several must be cut at once and one of them cannot be held still.
 */
export async function holdStill<T>(
  env: Env,
  volumes: readonly VolumeRecord[],
  work: () => Promise<T>,
): Promise<T> {
  const frozen: string[] = [];
  for (const volume of volumes) {
    if (volumes.length > 1) await refuseElsewhere(env, volume);
    const stage = env.node?.store.stage(volume.id);
    if (!stage) continue;
    if (!backendOf(env, volume).blockImage) {
      if (volumes.length === 1) continue;
      throw failedPrecondition(
        `volume ${volume.id} (backend ${volume.backend}) is staged and cannot be held still, so it cannot be part of one ` +
          'instant with others; unstage it first, or use backend loop',
      );
    }
    if (stage.readOnly) continue;
    if (stage.capability.accessType === 'mount') {
      if (await env.host.mounts.at(stage.stagingPath)) frozen.push(stage.stagingPath);
    } else if (stage.loopIndex !== undefined) {
      const device = await env.host.loops.open(stage.loopIndex);
      if (!device) continue;
      try {
        // What was written to the device is in the kernel's cache of the device, not yet in the file we copy.
        await env.host.mounts.sync(device.path);
      } finally {
        await device.release();
      }
    }
  }
  return env.freezer.withFrozen(frozen, work);
}

/** A filesystem that another node has mounted cannot be frozen from here, so what is copied of it is of no one instant. */
async function refuseElsewhere(env: Env, volume: VolumeRecord): Promise<void> {
  const writer = (await stagedElsewhere(env, volume.id)).find(({ stage }) => !stage.readOnly);
  if (writer)
    throw failedPrecondition(
      `volume ${volume.id} is staged writable on node ${writer.nodeId} and cannot be held still from here, so it cannot be ` +
        'part of one instant with others; unstage it there first',
    );
}
