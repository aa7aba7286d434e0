import type { Topology__Output } from '../../csi/gen/csi/v1/Topology';
import type { TopologyRequirement__Output } from '../../csi/gen/csi/v1/TopologyRequirement';
import { resourceExhausted } from '../../csi/status';
import { satisfies } from '../../volumes/node-registry';
import type { Segments } from '../../volumes/records';
import type { Env } from '../env';

/**
 * Where a new volume goes: the first of the preferred topologies, then of the requisite ones, that some node is in.
 * @returns [] (reachable from everywhere) when the CO has no requirement.
 * @throws CsiError RESOURCE_EXHAUSTED when no node is in any of them.
 */
export async function place(env: Env, requirement: TopologyRequirement__Output | null): Promise<Segments[]> {
  const wanted = [...(requirement?.preferred ?? []), ...(requirement?.requisite ?? [])];
  if (wanted.length === 0) return [];
  const known = env.nodes.topologies();
  const chosen = wanted.find((topology) => known.some((segments) => satisfies(segments, topology.segments)));
  if (chosen) return [chosen.segments];
  throw resourceExhausted(
    `accessibility_requirements: no node is in any of ${JSON.stringify(wanted.map((t) => t.segments))}; known are ${JSON.stringify(known)}`,
  );
}

/** Whether a volume that exists already meets a requirement: one of its topologies is one of the requisite ones. */
export function isSatisfiedBy(
  requirement: TopologyRequirement__Output | null,
  topology: readonly Segments[],
): boolean {
  const requisite: readonly Topology__Output[] = requirement?.requisite ?? [];
  if (requisite.length === 0 || topology.length === 0) return true;
  return topology.some((segments) => requisite.some((wanted) => satisfies(segments, wanted.segments)));
}
