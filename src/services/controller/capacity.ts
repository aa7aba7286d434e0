import type { Backend } from '../../backends/backend';
import type { RequestOf } from '../../csi/rpcs';
import { CsiError } from '../../csi/status';
import { satisfies } from '../../volumes/node-registry';
import type { Env, Handler } from '../env';
import { readVolumeParameters } from '../parameters';
import { pickBackend } from '../resolve';
import { unadvertisedMode } from '../rules/volume-capability';
import { recordOf } from '../volume-capability';

export const getCapacity: Handler<'GetCapacity'> = async (env, request) => {
  const limits = await limitsFor(env, request);
  // A request that could never be provisioned has no capacity; that is an answer, not an error.
  if (!limits) return { available_capacity: '0' };
  return {
    available_capacity: `${env.pool.free ?? env.settings.maxVolumeBytes}`,
    maximum_volume_size: { value: `${limits.maximum}` },
    minimum_volume_size: { value: `${limits.minimum}` },
  };
};

async function limitsFor(env: Env, request: RequestOf<'GetCapacity'>) {
  try {
    const parameters = readVolumeParameters(request.parameters, {});
    const backend = pickBackend(env, parameters.backend);
    const topology = request.accessible_topology;
    if (topology) {
      const known = env.nodes.topologies();
      if (!known.some((segments) => satisfies(segments, topology.segments))) return undefined;
    }
    let minimum = 1n;
    let maximum = least(env.settings.maxVolumeBytes, largestOf(backend));
    for (const capability of request.volume_capabilities.map(recordOf)) {
      if (unadvertisedMode(capability.accessMode, 'controller', env.settings.capabilities)) return undefined;
      if (!backend.accessTypes.includes(capability.accessType)) return undefined;
      const fsType = capability.accessType === 'mount' ? backend.chooseFsType(capability.fsType) : '';
      const limits = backend.limits(fsType, capability.accessType);
      if (limits.minimum > minimum) minimum = limits.minimum;
      maximum = least(maximum, limits.maximum);
    }
    return minimum <= maximum ? { minimum, maximum } : undefined;
  } catch (error) {
    if (error instanceof CsiError) return undefined;
    throw error;
  }
}

/** Of whatever kind: what a request that names no capability can hope for. */
function largestOf(backend: Backend): bigint {
  const maxima = backend.accessTypes.map((type) => backend.limits('', type).maximum);
  return maxima.reduce((largest, maximum) => (maximum > largest ? maximum : largest), 0n);
}

const least = (one: bigint, other: bigint) => (one < other ? one : other);
