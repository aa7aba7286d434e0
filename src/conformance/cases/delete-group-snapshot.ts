import { casesOf } from '../case';
import { snapshotsOf, two } from './groups';

export const deleteGroupSnapshot = casesOf('GroupController.DeleteVolumeGroupSnapshot', [
  {
    id: 'GC10',
    level: 'must',
    section: 'DeleteVolumeGroupSnapshot',
    title: 'twice: OK, OK; the members are listed no more',
    run: async (probe) => {
      const sources = await two(probe);
      const { ids } = await probe.group(sources);
      await probe.ok('DeleteVolumeGroupSnapshot', ids);
      await probe.ok('DeleteVolumeGroupSnapshot', ids, 'what is deleted already');
      for (const id of sources) probe.same(await snapshotsOf(probe, id), 0, 'snapshots left:');
    },
  },
  {
    id: 'GC11',
    level: 'must',
    section: 'DeleteVolumeGroupSnapshot Errors',
    needs: ['hint dependentSnapshot'],
    title: 'a member in use: FAILED_PRECONDITION; OK when it is free',
    run: async (probe) => {
      const { ids } = await probe.group(await two(probe), probe.hints.dependentSnapshot);
      const snapshot = { snapshot_id: ids.snapshot_ids[0] ?? '' };
      const restored = await probe.volume({ volume_content_source: { snapshot } });
      await probe.refused('DeleteVolumeGroupSnapshot', ids, 'FAILED_PRECONDITION');
      await probe.ok('DeleteVolume', { volume_id: restored.id });
      await probe.ok('DeleteVolumeGroupSnapshot', ids);
    },
  },
]);
