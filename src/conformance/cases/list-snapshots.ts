import { casesOf } from '../case';
import type { Probe } from '../probe';

async function entries(probe: Probe, request: object) {
  const found = await probe.ok('ListSnapshots', request);
  return found.entries.map(({ snapshot }) => snapshot);
}

export const listSnapshots = casesOf('Controller.ListSnapshots', [
  {
    id: 'Y03',
    level: 'must',
    section: 'DeleteVolume',
    title: 'by the source_volume_id of a volume that was deleted: its snapshots are still listed',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { snapshot_id } = await probe.snapshot(id);
      const { code } = await probe.call('DeleteVolume', { volume_id: id });
      if (code === 'FAILED_PRECONDITION') probe.skip('a volume with snapshots cannot be deleted');
      probe.that(code === 'OK', 'OK', code);
      const ids = (await entries(probe, { source_volume_id: id })).map((one) => one?.snapshot_id);
      probe.same(ids, [snapshot_id], 'snapshots of the volume');
    },
  },
  {
    id: 'Y04',
    level: 'decision',
    section: 'ListSnapshotsRequest',
    title: 'a snapshot_id and the source_volume_id of another volume: OK, none',
    run: async (probe) => {
      const { snapshot_id } = await probe.snapshot((await probe.volume()).id);
      const other = await probe.volume();
      probe.same(await entries(probe, { snapshot_id, source_volume_id: other.id }), [], 'snapshots');
    },
  },
  {
    id: 'Y05',
    level: 'must',
    section: 'ListSnapshotsRequest',
    needs: ['hint slowSnapshot', 'controller.CREATE_DELETE_SNAPSHOT'],
    title: 'a snapshot that is not ready: listed at once, with ready_to_use false',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { snapshot_id } = await probe.snapshot(id, probe.hints.slowSnapshot);
      const found = await entries(probe, { snapshot_id });
      probe.same(
        found.map((one) => [one?.snapshot_id, one?.ready_to_use]),
        [[snapshot_id, false]],
        'id and ready_to_use',
      );
    },
  },
  {
    id: 'Y01',
    level: 'must',
    section: 'ListSnapshotsRequest',
    title: 'max_entries -1: INVALID_ARGUMENT, and the driver goes on',
    run: async (probe) => {
      await probe.refused('ListSnapshots', { max_entries: -1 }, 'INVALID_ARGUMENT');
      await probe.ok('GetPluginInfo', {}, 'the driver is alive');
    },
  },
]);
