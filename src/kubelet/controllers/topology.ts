import type { LabelTerm, NodeObject, PersistentVolume, Segments, StorageClass } from '../objects';

/** Whether the node has one of the terms; none asks for nothing. */
export function isInOneOf(terms: readonly LabelTerm[], { labels }: NodeObject): boolean {
  if (terms.length === 0) return true;
  return terms.some((term) =>
    Object.entries(term).every(([key, values]) => values.includes(labels.get(key) ?? '\0')),
  );
}

/** The segments that a driver told of a node (CSINode and the node's labels); undefined: it has none. */
export function segmentsOf({ labels, topologyKeys }: NodeObject, driver: string): Segments | undefined {
  const keys = topologyKeys.get(driver) ?? [];
  if (keys.length === 0) return undefined;
  return Object.fromEntries(keys.map((key) => [key, labels.get(key) ?? '']));
}

export interface AccessibilityRequirements {
  readonly requisite: { segments: Record<string, string> }[];
  readonly preferred: { segments: Record<string, string> }[];
}

/**
 * What external-provisioner asks for (without --strict-topology): every segment of the cluster that the class allows, and
 * first of all that of the node which the scheduler has chosen. Undefined where the driver has no topology.
 */
export function accessibilityRequirements(
  nodes: readonly NodeObject[],
  driver: string,
  { allowedTopologies }: StorageClass,
  selectedNode: string | undefined,
): AccessibilityRequirements | undefined {
  const terms = new Map<string, Segments>();
  for (const node of nodes) {
    const segments = segmentsOf(node, driver);
    if (segments && isInOneOf(allowedTopologies, node)) terms.set(keyOf(segments), segments);
  }
  if (terms.size === 0) return undefined;
  const sorted = [...terms.keys()].sort();
  const selected = nodes.find(({ meta }) => meta.name === selectedNode);
  const segments = selected && segmentsOf(selected, driver);
  const first = segments === undefined ? -1 : sorted.indexOf(keyOf(segments));
  const preferred = first < 0 ? sorted : [...sorted.slice(first), ...sorted.slice(0, first)];
  const listed = (keys: readonly string[]) => keys.map((key) => ({ segments: { ...terms.get(key) } }));
  return { requisite: listed(sorted), preferred: listed(preferred) };
}

function keyOf(segments: Segments): string {
  return JSON.stringify(Object.entries(segments).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The node affinity of a volume that is accessible from there. */
export function affinityOf(topologies: readonly { segments: Segments }[]): LabelTerm[] {
  return topologies
    .filter(({ segments }) => Object.keys(segments).length > 0)
    .map(({ segments }) =>
      Object.fromEntries(Object.entries(segments).map(([key, value]) => [key, [value]])),
    );
}

export function fitsNode({ nodeAffinity }: PersistentVolume, node: NodeObject): boolean {
  return isInOneOf(nodeAffinity, node);
}
