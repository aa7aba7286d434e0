import { failedPrecondition, invalidArgument, notFound } from '../../csi/status';
import type { Handler } from '../env';
import { isOwnMount } from './own-mounts';
import { undoImplicit } from './publish';
import { lookThroughDead, ownNode } from './staging';
import { removeTarget } from './target';

export const nodeUnpublishVolume: Handler<'NodeUnpublishVolume'> = async (env, request, call) => {
  const { store } = ownNode(env);
  const { mounts } = env.host;
  const target = request.target_path;
  const volume = env.volumes.find(request.volume_id);
  const record = store.publication(target);
  if (!volume && !record && env.settings.strict)
    throw notFound(`volume ${JSON.stringify(request.volume_id)} does not exist`);
  if (record && record.volumeId !== request.volume_id)
    throw failedPrecondition(
      `volume ${record.volumeId} is published at ${target}, not ${request.volume_id}; nothing was done`,
    );
  await call.point('beforeUnmount');
  // Earlier drivers, and repeated publishes of other tools, stack mounts: all of ours go.
  for (;;) {
    const { kind, mount } = await lookThroughDead(env, target, call);
    if (kind === 'link')
      throw invalidArgument(`target_path: ${target} is a symbolic link; it is neither followed nor removed`);
    if (!mount) break;
    if (!(await isOwnMount(env, volume, target)))
      throw failedPrecondition(
        `something that is not volume ${request.volume_id} is mounted at ${target}; unmount it, it is not this driver's to remove`,
      );
    await mounts.unmount(target);
    call.effect(`unmounted ${target}`);
  }
  await call.point('unmounted');
  await removeTarget(target, env.log);
  store.removePublication(target);
  if (volume) await undoImplicit(env, volume, call);
  return {};
};
