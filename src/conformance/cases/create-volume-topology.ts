import type { Case } from '../case';
import type { Probe } from '../probe';

const NOWHERE = { segments: { 'topology.conformance.test/zone': 'nowhere' } };

/** Where the driver's node is. */
function here(probe: Probe) {
  const segments = probe.facts.node?.accessible_topology?.segments ?? {};
  if (Object.keys(segments).length === 0) probe.skip('the node tells no accessible_topology');
  return { segments };
}

/** CreateVolume and where a volume is to be. */
export const topologyCases: readonly Omit<Case, 'rpc'>[] = [
  {
    id: 'C23',
    level: 'must',
    section: 'CreateVolumeRequest',
    needs: ['no plugin.VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    title: 'accessibility_requirements without VOLUME_ACCESSIBILITY_CONSTRAINTS: INVALID_ARGUMENT',
    run: async (probe) => {
      const accessibility_requirements = { requisite: [NOWHERE], preferred: [NOWHERE] };
      await probe.refused('CreateVolume', probe.creation({ accessibility_requirements }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C24',
    level: 'must',
    section: 'CreateVolume Errors',
    needs: ['plugin.VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    title: 'a requisite topology that nobody is in: RESOURCE_EXHAUSTED',
    run: async (probe) => {
      const accessibility_requirements = { requisite: [NOWHERE] };
      await probe.refused(
        'CreateVolume',
        probe.creation({ accessibility_requirements }),
        'RESOURCE_EXHAUSTED',
      );
    },
  },
  {
    id: 'C27',
    level: 'must',
    section: 'TopologyRequirement',
    needs: ['plugin.VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    title:
      'two requisite topologies, preferred in reverse: the first preferred one that can be is chosen and told',
    run: async (probe) => {
      const place = here(probe);
      const { otherTopology } = probe.hints;
      const other = otherTopology && { segments: { ...otherTopology } };
      // Of two where one cannot be, the other is chosen; of two that both can, the preferred one.
      const [requisite, preferred, chosen] = other
        ? [[place, other], [other, place], other]
        : [[place, NOWHERE], [NOWHERE, place], place];
      const { volume } = await probe.ok(
        'CreateVolume',
        probe.creation({ accessibility_requirements: { requisite, preferred } }),
      );
      probe.same(volume?.accessible_topology, [chosen], 'accessible_topology');
    },
  },
];
