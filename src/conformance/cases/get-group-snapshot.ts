import { casesOf } from '../case';
import { two } from './groups';

export const getGroupSnapshot = casesOf('GroupController.GetVolumeGroupSnapshot', [
  {
    id: 'GC12',
    level: 'should',
    section: 'GetVolumeGroupSnapshot Errors',
    title:
      'a group, and snapshot_ids that are not its own: INVALID_ARGUMENT; an unknown group: NOT_FOUND first',
    run: async (probe) => {
      const { ids } = await probe.group(await two(probe));
      const [first = ''] = ids.snapshot_ids;
      for (const snapshot_ids of [[], [first], [...ids.snapshot_ids, 'conformance-unknown-snapshot']])
        await probe.refused('GetVolumeGroupSnapshot', { ...ids, snapshot_ids }, 'INVALID_ARGUMENT');
      await probe.ok('GetVolumeGroupSnapshot', ids);
      for (const snapshot_ids of [[], ['conformance-unknown-snapshot']]) {
        const request = { group_snapshot_id: 'conformance-unknown-group', snapshot_ids };
        await probe.refused('GetVolumeGroupSnapshot', request, 'NOT_FOUND');
      }
    },
  },
]);
