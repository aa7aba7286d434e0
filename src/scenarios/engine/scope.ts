import type { Scope } from '../model';
import type { CallFacts, NodeFacts, VolumeFacts } from './facts';

/** What expressions and messages may speak of. Found out only where one looks: most calls meet no expression. */
class CallScope implements Scope {
  readonly call: object;
  private plain: object | null | undefined;

  constructor(
    private readonly facts: CallFacts,
    private readonly nodeFacts: () => NodeFacts,
  ) {
    this.call = { id: facts.id, method: facts.method };
  }

  get request(): object {
    return this.facts.plainRequest();
  }

  get volume(): object | null {
    if (this.plain === undefined) this.plain = plainVolume(this.facts.volume());
    return this.plain;
  }

  get pod(): object | null {
    return this.facts.pod() ?? null;
  }

  get node(): object {
    return this.nodeFacts();
  }
}

/** @param more roots that only some expressions have. */
export function scopeOf(
  call: CallFacts,
  node: () => NodeFacts,
  more?: Pick<Scope, 'rule' | 'scenario'>,
): Scope {
  const scope = new CallScope(call, node);
  return more ? Object.assign(scope, more) : scope;
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
