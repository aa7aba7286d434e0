import type { Probe } from '../probe';

/** Two volumes to cut together. */
export async function two(probe: Probe): Promise<string[]> {
  return [(await probe.volume()).id, (await probe.volume()).id];
}

/** Snapshots of a volume, where they can be listed. */
export async function snapshotsOf(probe: Probe, source_volume_id: string): Promise<number> {
  if (!probe.serves('ListSnapshots')) return 0;
  return (await probe.ok('ListSnapshots', { source_volume_id })).entries.length;
}
