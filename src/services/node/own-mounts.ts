import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { sameDevice, splitDevice } from '../../util/device';
import { keyOf } from '../../util/keys';
import { RECORD_VERSION, type StageRecord, type VolumeRecord } from '../../volumes/records';
import { backendOf, type Env } from '../env';
import { digest } from '../volume-capability';
import { ownNode } from './staging';

/** Major number of loop devices. */
const LOOP_MAJOR = 7;

/**
 * Whether what is mounted at a path is a volume of ours, told by what is mounted and not by a record: records can be
 * lost, and a path can be used by others. With a volume: that volume only.
 */
export async function isOwnMount(
  env: Env,
  volume: VolumeRecord | undefined,
  mountPoint: string,
): Promise<boolean> {
  const found = await env.host.mounts.at(mountPoint);
  if (!found) return false;
  const stage = volume && ownNode(env).store.stage(volume.id);
  if (volume) {
    const asMount = await backendOf(env, volume).inspect(
      stageAt(env, volume, mountPoint),
      env.layout.volume(volume.id),
    );
    if (asMount) return true;
  }
  const loop = await loopAt(env, mountPoint);
  if (loop === undefined) return false;
  const status = await env.host.loops.status(loop);
  if (!status) return stage?.loopIndex === loop;
  const folder = path.dirname(status.backing.path);
  if (path.dirname(folder) !== env.layout.volumes) return false;
  return volume === undefined || path.basename(folder) === keyOf(volume.id);
}

/** The loop device mounted, or bound as a device node, at a path. */
async function loopAt(env: Env, mountPoint: string): Promise<number | undefined> {
  const identity = await env.host.mounts.at(mountPoint);
  if (identity?.device.major === LOOP_MAJOR) return identity.device.minor;
  const stat = await fs.lstat(mountPoint, { bigint: true }).catch(() => undefined);
  if (!stat?.isBlockDevice()) return undefined;
  const device = splitDevice(stat.rdev);
  return sameDevice(device, { major: LOOP_MAJOR, minor: device.minor }) ? device.minor : undefined;
}

function stageAt(env: Env, volume: VolumeRecord, stagingPath: string): StageRecord {
  return {
    version: RECORD_VERSION,
    volumeId: volume.id,
    bootId: ownNode(env).store.bootId,
    stagingPath,
    implicit: false,
    readOnly: false,
    capability: { accessType: 'mount', accessMode: 0, fsType: '', mountFlags: digest([]), mountGroup: '' },
    backend: volume.backend,
    fsType: volume.fsType,
  };
}
