import { CsiError } from '../../csi/status';
import type { VolumeRecord } from '../../volumes/records';
import type { Handler } from '../env';
import { readVolumeParameters } from '../parameters';
import { fitString } from '../replies';
import { checkContext, findVolume } from '../resolve';
import { unadvertisedMode } from '../rules/volume-capability';
import { recordOf, unservable } from '../volume-capability';

export const validateVolumeCapabilities: Handler<'ValidateVolumeCapabilities'> = async (env, request) => {
  const volume = await findVolume(env, request.volume_id);
  for (const capability of request.volume_capabilities) {
    const record = recordOf(capability);
    const problem =
      unadvertisedMode(record.accessMode, 'controller', env.settings.capabilities) ??
      unservable(env, volume, record);
    if (problem) return { message: fitString(problem) };
  }
  const problem = mismatch(volume, request);
  if (problem !== undefined) return { message: fitString(problem) };
  // Contexts and parameters are repeated only when they were given, for only then were they compared.
  return {
    confirmed: {
      volume_capabilities: request.volume_capabilities,
      volume_context: request.volume_context,
      parameters: request.parameters,
      mutable_parameters: request.mutable_parameters,
    },
  };
};

function mismatch(
  volume: VolumeRecord,
  request: {
    volume_context: Record<string, string>;
    parameters: Record<string, string>;
    mutable_parameters: Record<string, string>;
  },
): string | undefined {
  try {
    checkContext(volume, request.volume_context);
    const { own, mutable } = readVolumeParameters(request.parameters, request.mutable_parameters);
    return (
      difference('parameters', volume.parameters, own) ??
      difference('mutable_parameters', volume.mutable, mutable)
    );
  } catch (error) {
    if (error instanceof CsiError) return error.message;
    throw error;
  }
}

function difference(
  field: string,
  has: Record<string, string>,
  given: Record<string, string>,
): string | undefined {
  const key = Object.keys(given).find((name) => has[name] !== given[name]);
  return key === undefined ? undefined : `${field}[${JSON.stringify(key)}] does not match the volume`;
}
