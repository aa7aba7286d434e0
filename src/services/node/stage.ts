import { failedPrecondition, notFound } from '../../csi/status';
import type { Call, Env, Handler } from '../env';
import { resolveVolume, undoingNew } from '../resolve';
import { recordOf, requireCapability } from '../volume-capability';
import { ownNode } from './own-node';
import { checkOutsideData, isSameMount } from './places';
import { stageVolume } from './stage-volume';
import { knownVolume, unstageVolume } from './unstage-volume';

export const nodeStageVolume: Handler<'NodeStageVolume'> = async (env, request, call) => {
  const requested = requireCapability(request.volume_capability);
  const capability = recordOf(requested);
  checkOutsideData(env, 'staging_target_path', request.staging_target_path);
  const options = {
    stagingPath: request.staging_target_path,
    implicit: false,
    capability,
    mountFlags: requested.mount?.mount_flags ?? [],
    publishContext: request.publish_context,
  };
  await undoingNew(env, request.volume_id, async () => {
    const volume = await resolveVolume(env, request.volume_id, request.volume_context);
    await stageVolume(env, volume, options, call);
  });
  return {};
};

export const nodeUnstageVolume: Handler<'NodeUnstageVolume'> = async (env, request, call) => {
  const { volume_id: volumeId, staging_target_path: path } = request;
  const { store } = ownNode(env);
  checkOutsideData(env, 'staging_target_path', path);
  if (env.settings.strict && !store.stage(volumeId) && !knownVolume(env, volumeId))
    throw notFound(`volume ${JSON.stringify(volumeId)} does not exist`);
  // Staged elsewhere means not staged here, which is what is asked for (CSI 1.12, NodeUnstageVolume).
  const elsewhere = store.stage(volumeId) !== undefined && store.stage(volumeId)?.stagingPath !== path;
  if (elsewhere && (await isTarget(env, volumeId, path))) {
    call.effect(`left ${path} as it is: the volume is published there, not staged`);
    return {};
  }
  if (!elsewhere) await refusePublished(env, volumeId, call);
  await unstageVolume(env, volumeId, path, call);
  return {};
};

/** Whether the volume is published at a path, by whatever name of it. */
async function isTarget(env: Env, volumeId: string, path: string): Promise<boolean> {
  const { store } = ownNode(env);
  if (store.publication(path)?.volumeId === volumeId) return true;
  for (const { targetPath } of store.publicationsOf(volumeId))
    if (await isSameMount(env, path, targetPath)) return true;
  return false;
}

/** @throws CsiError FAILED_PRECONDITION */
async function refusePublished(env: Env, volumeId: string, call: Call): Promise<void> {
  const { store } = ownNode(env);
  for (const { targetPath } of store.publicationsOf(volumeId)) {
    const there = await env.host.mounts.look(targetPath).catch(() => undefined);
    if (there?.mount !== null)
      throw failedPrecondition(
        `volume ${volumeId} is still published at ${targetPath}; call NodeUnpublishVolume first`,
      );
    // Somebody else unmounted it: what is not there cannot hold the volume.
    store.removePublication(targetPath);
    call.effect(`forgot the publication at ${targetPath}: nothing is mounted there`);
  }
}
