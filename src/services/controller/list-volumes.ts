import * as fs from 'node:fs/promises';
import type { VolumeCondition } from '../../csi/gen/csi/v1/VolumeCondition';
import { errnoOf } from '../../util/files';
import type { VolumeRecord } from '../../volumes/records';
import { backendOf, type Env, type Handler } from '../env';
import { page } from '../paging';
import { volumeReply } from '../replies';
import { findVolume } from '../resolve';

export const listVolumes: Handler<'ListVolumes'> = async (env, request) => {
  const { entries, nextToken } = page('volumes', listable(env), request.max_entries, request.starting_token);
  const found = await Promise.all(
    entries.map(async (volume) => {
      const status = await statusOf(env, volume);
      return isThere(env, volume) ? [{ volume: volumeReply(env, volume), status }] : [];
    }),
  );
  return { entries: found.flat(), next_token: nextToken };
};

/** Inline volumes belong to their pod; no CO has to know of them. */
function* listable(env: Env): Iterable<VolumeRecord> {
  for (const volume of env.volumes.values()) if (volume.origin !== 'ephemeral') yield volume;
}

export const controllerGetVolume: Handler<'ControllerGetVolume'> = async (env, request, call) => {
  const volume = await findVolume(env, request.volume_id);
  const status = await statusOf(env, volume);
  return isThere(env, volume)
    ? { volume: volumeReply(env, volume), status }
    : controllerGetVolume(env, request, call);
};

/**
 * Who only looks takes no lock, so a volume may go while the disk is asked for its bytes: it is gone then, and not in
 * trouble. Another one may have its name already.
 */
function isThere(env: Env, { id, sequence }: VolumeRecord): boolean {
  return env.volumes.find(id)?.sequence === sequence;
}

async function statusOf(env: Env, volume: VolumeRecord) {
  const { controller } = env.settings.capabilities;
  const status: { published_node_ids?: string[]; volume_condition?: VolumeCondition } = {};
  if (controller.has('LIST_VOLUMES_PUBLISHED_NODES'))
    status.published_node_ids = Object.keys(volume.attachments);
  if (controller.has('VOLUME_CONDITION')) status.volume_condition = await conditionOf(env, volume);
  return status;
}

/** The controller's own view: whether the volume's bytes are where they belong. */
async function conditionOf(env: Env, volume: VolumeRecord): Promise<VolumeCondition> {
  const paths = env.layout.volume(volume.id);
  try {
    await fs.access(backendOf(env, volume).blockImage ? paths.disk : paths.tree);
    return { abnormal: false, message: 'the volume is healthy' };
  } catch (error) {
    return {
      abnormal: true,
      message: `the bytes of the volume cannot be reached: ${errnoOf(error) ?? 'unknown error'}`,
    };
  }
}
