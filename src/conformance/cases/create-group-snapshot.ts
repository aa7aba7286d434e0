import { casesOf } from '../case';
import type { Probe } from '../probe';
import { snapshotsOf, two } from './groups';

const cutting = (probe: Probe, source_volume_ids: string[]) => ({
  name: probe.name(),
  source_volume_ids,
  parameters: { ...probe.hints.snapshotParameters },
});

export const createGroupSnapshot = casesOf('GroupController.CreateVolumeGroupSnapshot', [
  {
    id: 'GC01',
    level: 'must',
    section: 'CreateVolumeGroupSnapshotRequest',
    title: 'no source_volume_ids: INVALID_ARGUMENT',
    run: async (probe) => {
      await probe.refused('CreateVolumeGroupSnapshot', cutting(probe, []), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'GC02',
    level: 'decision',
    section: 'CreateVolumeGroupSnapshot',
    title: 'one unknown source: NOT_FOUND, and no snapshot of the others is left',
    run: async (probe) => {
      const { id } = await probe.volume();
      const request = cutting(probe, [id, 'conformance-unknown-volume']);
      await probe.refused('CreateVolumeGroupSnapshot', request, 'NOT_FOUND');
      probe.same(await snapshotsOf(probe, id), 0, 'snapshots left:');
    },
  },
  {
    id: 'GC05',
    level: 'must',
    section: 'VolumeGroupSnapshot',
    title: 'two sources: two members that name the group, with times of creation',
    run: async (probe) => {
      const sources = await two(probe);
      const { group } = await probe.group(sources);
      const members = group.snapshots;
      probe.same(members.map((member) => member.source_volume_id).sort(), [...sources].sort(), 'sources');
      probe.that(
        members.every((member) => member.group_snapshot_id === group.group_snapshot_id),
        `members of ${group.group_snapshot_id}`,
        members.map((member) => member.group_snapshot_id),
      );
      const times = [group, ...members].map(({ creation_time }) => creation_time?.seconds ?? '0');
      probe.that(
        times.every((seconds) => BigInt(seconds) > 0n),
        'a creation_time of each',
        times,
      );
    },
  },
  {
    id: 'GC06',
    level: 'must',
    section: 'VolumeGroupSnapshot',
    needs: ['hint slowSnapshot'],
    title: 'a member that is not ready: the group is not either',
    run: async (probe) => {
      const { group } = await probe.group(await two(probe), probe.hints.slowSnapshot);
      if (group.snapshots.every((member) => member.ready_to_use))
        probe.skip('all members were ready at once');
      probe.same(group.ready_to_use, false, 'ready_to_use');
    },
  },
  {
    id: 'GC08',
    level: 'must',
    section: 'CreateVolumeGroupSnapshot Errors',
    needs: ['hint ungroupableVolume'],
    title:
      'a volume that cannot be part of a group: FAILED_PRECONDITION, and no snapshot of the others is left',
    run: async (probe) => {
      const { id } = await probe.volume();
      const parameters = probe.parameters(probe.hints.ungroupableVolume);
      const alone = await probe.volume({ parameters });
      const request = cutting(probe, [id, alone.id]);
      await probe.refused('CreateVolumeGroupSnapshot', request, 'FAILED_PRECONDITION');
      probe.same(await snapshotsOf(probe, id), 0, 'snapshots left:');
    },
  },
  {
    id: 'GC03',
    level: 'must',
    section: 'CreateVolumeGroupSnapshot',
    title: 'the same name and sources again: the same group',
    run: async (probe) => {
      const request = cutting(probe, await two(probe));
      const first = await probe.ok('CreateVolumeGroupSnapshot', request);
      const again = await probe.ok('CreateVolumeGroupSnapshot', request);
      const [is, was] = [again, first].map(({ group_snapshot }) => group_snapshot?.group_snapshot_id);
      probe.same(is, was, 'group_snapshot_id');
    },
  },
  {
    id: 'GC04',
    level: 'must',
    section: 'CreateVolumeGroupSnapshot Errors',
    title: 'the same name, other sources: ALREADY_EXISTS',
    run: async (probe) => {
      const sources = await two(probe);
      const request = cutting(probe, sources);
      await probe.ok('CreateVolumeGroupSnapshot', request);
      const source_volume_ids = sources.slice(0, 1);
      await probe.refused('CreateVolumeGroupSnapshot', { ...request, source_volume_ids }, 'ALREADY_EXISTS');
    },
  },
]);
