import type { StageNote } from '../../backends/backend';
import { failedPrecondition, invalidArgument, notFound, outOfRange } from '../../csi/status';
import type { VolumeRecord } from '../../volumes/records';
import { growVolume, sizeAfter } from '../controller/expand';
import { backendOf, type Call, type Env, type Handler } from '../env';
import { findVolume } from '../resolve';
import { recordOf, unservable } from '../volume-capability';
import { isShared } from './disk-sharing';
import { ownNode } from './own-node';
import { inspectStage } from './staging';

export const nodeExpandVolume: Handler<'NodeExpandVolume'> = async (env, request, call) => {
  const { store } = ownNode(env);
  const volume = await findVolume(env, request.volume_id);
  if (request.volume_capability) {
    const problem = unservable(env, volume, recordOf(request.volume_capability));
    if (problem) throw invalidArgument(`volume_capability: ${problem}`);
  }
  const stage = store.stage(volume.id);
  const path = request.volume_path;
  const published = store.publicationsOf(volume.id);
  if (!stage || (stage.stagingPath !== path && !published.some((p) => p.targetPath === path)))
    throw notFound(`volume ${volume.id} is neither staged nor published at ${JSON.stringify(path)}`);
  const size = request.capacity_range
    ? sizeAfter(env, volume, request.capacity_range)
    : BigInt(volume.capacityBytes);
  // All that can be refused is looked at before anything grows: a refused call changes nothing.
  const staged = await inspectStage(env, volume, stage, call);
  if (!staged)
    throw failedPrecondition(
      `volume ${volume.id} is no longer mounted at ${stage.stagingPath}; stage it again`,
    );
  if (stage.readOnly || (staged.identity && (await env.host.mounts.at(stage.stagingPath))?.readOnly))
    throw failedPrecondition(
      `volume ${volume.id} is mounted read-only at ${stage.stagingPath} and cannot be grown there`,
    );
  const grown = await sizeFor(env, volume, size, call);
  let record = stage;
  const order = {
    volume: grown,
    stage,
    staged,
    at: env.layout.volume(volume.id),
    inUse: published.length > 0 || isShared(env, volume.id),
    note: async (facts: StageNote) => {
      record = { ...record, ...facts };
      await store.putStage(record);
    },
  };
  await backendOf(env, volume).growStaged(order, call);
  return { capacity_bytes: grown.capacityBytes };
};

/** A CO normally calls ControllerExpandVolume first; where this process is also the controller it may skip that. */
async function sizeFor(env: Env, volume: VolumeRecord, size: bigint, call: Call): Promise<VolumeRecord> {
  if (size === BigInt(volume.capacityBytes)) return volume;
  if (!env.volumes.mayWrite(volume))
    throw outOfRange(
      `capacity_range: volume ${volume.id} has ${volume.capacityBytes} bytes, ${size} are asked for; call ControllerExpandVolume first`,
    );
  return growVolume(env, volume, size, call);
}
