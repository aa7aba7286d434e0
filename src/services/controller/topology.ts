import type { Topology__Output } from '../../csi/gen/csi/v1/Topology';
import type { TopologyRequirement__Output } from '../../csi/gen/csi/v1/TopologyRequirement';
import { resourceExhausted } from '../../csi/status';
import { satisfies } from '../../volumes/node-registry';
import type { Segments } from '../../volumes/records';
import type { Env } from '../env';

/**
 * Where a new volume goes: the first of the preferred topologies, then of the requisite ones, that some node is in. Only
 * requisite ones bind: without them any place will do when no preferred one can be had (CSI 1.12, TopologyRequirement).
 * @returns [] (reachable from everywhere) when the CO has no requirement.
 * @throws CsiError RESOURCE_EXHAUSTED when no node is in any of them.
 */
export async function place(env: Env, requirement: TopologyRequirement__Output | null): Promise<Segments[]> {
  if (!requirement) return [];
  const { preferred, requisite } = requirement;
  const wanted = [...preferred, ...requisite];
  const known = await env.nodes.topologies();
  const chosen = wanted.find((topology) => known.some((segments) => satisfies(segments, topology.segments)));
  if (chosen) return [chosen.segments];
  if (requisite.length === 0) return known.slice(0, 1);
  throw resourceExhausted(
    `accessibility_requirements: no node is in any of ${JSON.stringify(wanted.map((t) => t.segments))}; known are ${JSON.stringify(known)}`,
  );
}

/**
 * Whether a volume that exists already meets a requirement: one of the requisite places lies within one of its
 * topologies, so that whoever is in that place reaches it.
 */
export function isSatisfiedBy(
  requirement: TopologyRequirement__Output | null,
  topology: readonly Segments[],
): boolean {
  const requisite: readonly Topology__Output[] = requirement?.requisite ?? [];
  if (requisite.length === 0 || topology.length === 0) return true;
  return requisite.some((place) => topology.some((reach) => satisfies(place.segments, reach)));
}
