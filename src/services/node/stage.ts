import { failedPrecondition, notFound } from '../../csi/status';
import type { Handler } from '../env';
import { resolveVolume } from '../resolve';
import { recordOf, requireCapability, unservable } from '../volume-capability';
import { isOwnMount } from './own-mounts';
import { lookThroughDead, ownNode, stageVolume, unstageVolume } from './staging';

export const nodeStageVolume: Handler<'NodeStageVolume'> = async (env, request, call) => {
  const requested = requireCapability(request.volume_capability);
  const capability = recordOf(requested);
  const volume = await resolveVolume(env, request.volume_id, request.volume_context);
  const problem = unservable(env, volume, capability);
  if (problem) throw failedPrecondition(problem);
  await stageVolume(
    env,
    volume,
    {
      stagingPath: request.staging_target_path,
      implicit: false,
      capability,
      mountFlags: requested.mount?.mount_flags ?? [],
      publishContext: request.publish_context,
    },
    call,
  );
  return {};
};

export const nodeUnstageVolume: Handler<'NodeUnstageVolume'> = async (env, request, call) => {
  const { store } = ownNode(env);
  const path = request.staging_target_path;
  const volume = env.volumes.find(request.volume_id);
  const stage = store.stage(request.volume_id);
  if (!volume && !stage && env.settings.strict)
    throw notFound(`volume ${JSON.stringify(request.volume_id)} does not exist`);

  for (const publication of store.publicationsOf(request.volume_id)) {
    const there = await env.host.mounts.look(publication.targetPath).catch(() => undefined);
    if (there?.mount !== null)
      throw failedPrecondition(
        `volume ${request.volume_id} is still published at ${publication.targetPath}; call NodeUnpublishVolume first`,
      );
    // Somebody else unmounted it: what is not there cannot hold the volume.
    store.removePublication(publication.targetPath);
  }
  if (stage?.stagingPath === path) await unstageVolume(env, volume, stage, call);
  // The record may be lost while the mount lives; a mount that is not ours is not ours to remove.
  while ((await lookThroughDead(env, path, call)).mount) {
    if (!(await isOwnMount(env, volume, path)))
      throw failedPrecondition(
        `something that is not volume ${request.volume_id} is mounted at ${path}; unmount it, it is not this driver's to remove`,
      );
    await env.host.mounts.unmount(path);
    call.effect(`unmounted ${path}, of which there was no record`);
  }
  return {};
};
