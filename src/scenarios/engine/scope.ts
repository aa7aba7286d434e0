import { once } from '../../util/once';
import type { Scope } from '../model';
import type { CallFacts, NodeFacts, VolumeFacts } from './facts';

/** What expressions and messages may speak of. Found out only where one looks: most calls meet no expression. */
export function scopeOf(call: CallFacts, node: () => NodeFacts, more: Scope = {}): Scope {
  const volume = once(() => plainVolume(call.volume()));
  return {
    get request() {
      return call.plainRequest();
    },
    get volume() {
      return volume();
    },
    get pod() {
      return call.pod() ?? null;
    },
    get node() {
      return node();
    },
    call: { id: call.id, method: call.method },
    ...more,
  };
}

function plainVolume(volume: VolumeFacts | undefined): object | null {
  if (!volume) return null;
  const { id, name, pvc, storageClass, parameters, attributes, fsType, accessModes, block } = volume;
  const { states, capacityBytes } = volume;
  return {
    id,
    name,
    pvc,
    storageClass,
    parameters,
    attributes,
    fsType,
    accessModes,
    block,
    state: states.at(-1) ?? null,
    capacity: capacityBytes === undefined ? null : `${capacityBytes}`,
  };
}
