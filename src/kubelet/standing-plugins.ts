import type { Cluster } from './cluster';
import type { Standing } from './standing';
import { rounded } from './standing-operation';

/** Sockets in plugins_registry of which no driver came, or no second one. */
export function pluginStandings(cluster: Cluster): Standing[] {
  return cluster.allNodes().flatMap(({ kubelet, object }) =>
    (kubelet?.pluginManager.failing() ?? []).map(({ path, failures, lastError, isPending, retryAt }) => {
      const left = Math.max(0, (retryAt ?? 0) - cluster.api.clock.now());
      const next = isPending ? 'it is tried right now' : `next try in ${rounded(left)}`;
      return {
        what: `plugin at ${path}`,
        state: `not registered with ${object.meta.name}`,
        why: [`${failures} ${failures === 1 ? 'try' : 'tries'}: ${lastError}; ${next}`],
      };
    }),
  );
}
