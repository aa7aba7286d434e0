import { failedPrecondition } from '../../csi/status';
import type { SnapshotRecord } from '../../volumes/records';
import { backendOf, type Env, type Handler } from '../env';
import { stagedElsewhere } from '../staged-elsewhere';

export const deleteVolume: Handler<'DeleteVolume'> = async (env, request, call) => {
  const volume = env.volumes.find(request.volume_id);
  if (!volume) return {};
  const inUse = (what: string) => failedPrecondition(`volume ${volume.id} is in use: ${what}`);
  if (volume.mutable.deletionProtection === 'true')
    throw inUse('its mutable parameter deletionProtection is true; set it to false first');
  const nodes = Object.keys(volume.attachments);
  if (nodes.length > 0)
    throw inUse(`it is published to ${nodes.join(', ')}; call ControllerUnpublishVolume first`);
  const stage = env.node?.store.stage(volume.id);
  if (stage) throw inUse(`it is staged at ${stage.stagingPath}; unpublish and unstage it first`);
  const [elsewhere] = stagedElsewhere(env, volume.id);
  if (elsewhere)
    throw inUse(`it is staged on node ${elsewhere.nodeId}; unpublish and unstage it there first`);
  const dependent = dependentSnapshot(env, volume.id);
  if (dependent)
    throw inUse(`snapshot ${dependent.id} was cut with dependent: true and needs it; delete that first`);
  await call.point('beforeDelete');
  await backendOf(env, volume).destroy(volume);
  await call.point('destroyed');
  await env.volumes.remove(volume.id);
  call.effect(`removed volume ${volume.id}`);
  return {};
};

/** Snapshots are copies and outlive their source, but for those that were asked to depend on it. */
function dependentSnapshot(env: Env, volumeId: string): SnapshotRecord | undefined {
  for (const snapshot of env.snapshots.values())
    if (snapshot.dependent && snapshot.sourceVolumeId === volumeId) return snapshot;
  return undefined;
}
