import { invalidArgument } from '../../csi/status';
import type { Handler } from '../env';
import { readMutableParameters } from '../parameters';
import { findVolume } from '../resolve';

export const controllerModifyVolume: Handler<'ControllerModifyVolume'> = async (env, request, call) => {
  const volume = await findVolume(env, request.volume_id);
  if (Object.keys(request.mutable_parameters).length === 0)
    throw invalidArgument('mutable_parameters: expected at least one key, found none');
  const changes = readMutableParameters(request.mutable_parameters);
  const mutable = { ...volume.mutable, ...changes };
  const loopIndex = env.node?.store.stage(volume.id)?.loopIndex;
  // A staged volume takes the change now; one staged elsewhere, or not at all, at its next stage.
  if (loopIndex !== undefined && mutable.readAheadKiB !== undefined)
    await env.host.loops.setReadAhead(loopIndex, Number(mutable.readAheadKiB));
  await env.volumes.update({ ...volume, mutable });
  call.effect(`modified ${Object.keys(changes).join(', ')}`);
  return {};
};
