import type { Scope } from '../model';
import type { CallFacts, NodeFacts } from './facts';

/** What expressions and messages may speak of. Found out only where one looks: most calls meet no expression. */
export function scopeOf(call: CallFacts, node: () => NodeFacts, more: Scope = {}): Scope {
  return {
    get request() {
      return call.plainRequest();
    },
    get volume() {
      const volume = call.volume();
      if (!volume) return null;
      const { states, capacityBytes, ...rest } = volume;
      return {
        ...rest,
        state: states.at(-1) ?? null,
        capacity: capacityBytes === undefined ? null : `${capacityBytes}`,
      };
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
