import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { StageFacts } from '../../backends/backend';
import type { MountRoot, PathKind } from '../../host/host';
import { sameDevice, splitDevice } from '../../util/device';
import { keyOf } from '../../util/keys';
import type { VolumeRecord } from '../../volumes/records';
import { backendOf, type Env } from '../env';
import { LOOP_MAJOR, ownNode } from './staging';

/**
 * Whether what is mounted at a path is a volume of ours, told by what is mounted and not by a record: records can be
 * lost, and a path can be used by others. With a volume: that volume only.
 */
export async function isOwnMount(
  env: Env,
  volume: VolumeRecord | undefined,
  mountPoint: string,
): Promise<boolean> {
  const { mount, kind } = await env.host.mounts.look(mountPoint);
  if (!mount) return false;
  const { store } = ownNode(env);
  const stage = volume && store.stage(volume.id);
  const seen = volume && store.lastSeen(volume.id)?.identity;
  // A bind of the staged mount: the same root of the same superblock.
  if (seen && sameDevice(seen.device, mount.device) && seen.rootInode === mount.rootInode) return true;
  if (volume) {
    const asMount = await backendOf(env, volume).inspect(
      stageAt(env, volume, mountPoint),
      env.layout.volume(volume.id),
    );
    if (asMount) return true;
  }
  const loop = await loopAt(mountPoint, mount, kind);
  if (loop === undefined) return false;
  const status = await env.host.loops.status(loop);
  if (!status) return stage?.loopIndex === loop;
  const folder = path.dirname(status.backing.path);
  if (path.dirname(folder) !== env.layout.volumes) return false;
  return volume === undefined || path.basename(folder) === keyOf(volume.id);
}

/** The loop device mounted, or bound as a device node, at a path. */
async function loopAt(mountPoint: string, mount: MountRoot, kind: PathKind): Promise<number | undefined> {
  if (mount.device.major === LOOP_MAJOR) return mount.device.minor;
  if (kind !== 'blockDevice') return undefined;
  const device = splitDevice((await fs.lstat(mountPoint, { bigint: true })).rdev);
  return device.major === LOOP_MAJOR ? device.minor : undefined;
}

/** What a stage of the volume at that path would be, with what is known of its real one. */
function stageAt(env: Env, volume: VolumeRecord, stagingPath: string): StageFacts {
  const known = ownNode(env).store.stage(volume.id);
  return {
    volumeId: volume.id,
    stagingPath,
    readOnly: false,
    capability: { accessType: 'mount' },
    fsType: volume.fsType,
    ...(known?.loopIndex !== undefined && { loopIndex: known.loopIndex }),
    ...(known?.mountDevice !== undefined && { mountDevice: known.mountDevice }),
  };
}
