import { failedPrecondition, invalidArgument, notFound } from '../../csi/status';
import type { StageRecord } from '../../volumes/records';
import type { Env, Handler } from '../env';
import { lookThroughDead } from './dead-mounts';
import { ownMount } from './own-mounts';
import { ownNode } from './own-node';
import { checkOutsideData, isSameMount } from './places';
import { protectDevice } from './protect-device';
import { undoImplicit } from './publish';
import { removeTarget } from './target';
import { knownVolume } from './unstage-volume';

export const nodeUnpublishVolume: Handler<'NodeUnpublishVolume'> = async (env, request, call) => {
  const { store } = ownNode(env);
  const { mounts } = env.host;
  const target = request.target_path;
  const record = store.publication(target);
  checkOutsideData(env, 'target_path', target);
  if (env.settings.strict && !record && !knownVolume(env, request.volume_id))
    throw notFound(`volume ${JSON.stringify(request.volume_id)} does not exist`);
  if (record && record.volumeId !== request.volume_id)
    throw failedPrecondition(
      `volume ${record.volumeId} is published at ${target}, not ${request.volume_id}; nothing was done`,
    );
  const staged = record ? undefined : await stageAt(env, request.volume_id, target);
  if (staged)
    throw failedPrecondition(
      `volume ${staged.volumeId} is staged at ${target}, not published; nothing was done, NodeUnstageVolume takes it from there`,
    );
  await call.point('beforeUnmount');
  // Earlier drivers, and repeated publishes of other tools, stack mounts: all of ours go.
  for (;;) {
    const look = await lookThroughDead(env, target, call);
    if (look.kind === 'link')
      throw invalidArgument(`target_path: ${target} is a symbolic link; it is neither followed nor removed`);
    if (!look.mount) break;
    if (!(await ownMount(env, request.volume_id, target, look)))
      throw failedPrecondition(
        `something that is not volume ${request.volume_id} is mounted at ${target}; unmount it, it is not this driver's to remove`,
      );
    await mounts.unmount(target);
    call.effect(`unmounted ${target}`);
  }
  await call.point('unmounted');
  await removeTarget(target, env.log);
  await call.point('targetRemoved');
  store.removePublication(target);
  await protectDevice(env, request.volume_id);
  await undoImplicit(env, request.volume_id, call);
  return {};
};

/** The stage that a path is, by whatever name of it. */
async function stageAt(env: Env, volumeId: string, path: string): Promise<StageRecord | undefined> {
  const { store } = ownNode(env);
  const stage = store.stage(volumeId);
  return (
    store.stageAt(path) ?? (stage && (await isSameMount(env, path, stage.stagingPath)) ? stage : undefined)
  );
}
