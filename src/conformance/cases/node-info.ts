import { casesOf } from '../case';

export const nodeInfo = casesOf('Node.NodeGetInfo', [
  {
    id: 'NI2',
    level: 'must',
    section: 'NodeGetInfoResponse',
    needs: ['no plugin.VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    title: 'without VOLUME_ACCESSIBILITY_CONSTRAINTS there is no accessible_topology',
    run: async (probe) => {
      const { accessible_topology } = await probe.ok('NodeGetInfo', {});
      probe.that(accessible_topology === null, 'no accessible_topology', { accessible_topology });
    },
  },
]);
