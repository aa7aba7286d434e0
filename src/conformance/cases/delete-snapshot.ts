import { casesOf } from '../case';

export const deleteSnapshot = casesOf('Controller.DeleteSnapshot', [
  {
    id: 'X02',
    level: 'must',
    section: 'DeleteSnapshot Errors',
    needs: ['hint dependentSnapshot'],
    title: 'in use by a volume that was restored from it: FAILED_PRECONDITION; OK when that is gone',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { snapshot_id } = await probe.snapshot(id, probe.hints.dependentSnapshot);
      const restored = await probe.volume({ volume_content_source: { snapshot: { snapshot_id } } });
      await probe.refused('DeleteSnapshot', { snapshot_id }, 'FAILED_PRECONDITION');
      await probe.ok('DeleteVolume', { volume_id: restored.id });
      await probe.ok('DeleteSnapshot', { snapshot_id });
    },
  },
  {
    id: 'X03',
    level: 'must',
    section: 'DeleteSnapshot',
    title: 'twice: OK, OK',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { snapshot_id } = await probe.snapshot(id);
      await probe.ok('DeleteSnapshot', { snapshot_id });
      await probe.ok('DeleteSnapshot', { snapshot_id }, 'what is deleted already');
    },
  },
  {
    id: 'X01',
    level: 'must',
    section: 'DeleteSnapshot Errors',
    needs: ['group.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT'],
    title: 'a member of a group: INVALID_ARGUMENT, and the group is as before',
    run: async (probe) => {
      const { ids } = await probe.group([(await probe.volume()).id]);
      const snapshot_id = ids.snapshot_ids[0] ?? '';
      await probe.refused('DeleteSnapshot', { snapshot_id }, 'INVALID_ARGUMENT');
      await probe.ok('GetVolumeGroupSnapshot', ids, 'the group is there');
    },
  },
]);
