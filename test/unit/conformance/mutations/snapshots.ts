import * as fs from 'node:fs/promises';
import { keyOf } from '../../../../src/util/keys';
import type { ConformanceBench } from '../bench';
import type { Falsified } from '../falsify';
import type { Mutation } from '../mutation';

const UNTRACKED = { trackBlocks: 'true' };

/** Volumes have something in them before they are cut, as a workload would have written it. */
const written = (bench: ConformanceBench): Falsified => ({
  CreateSnapshot: async ({ next, request }) => {
    const disk = `${bench.first.dataDir}/volumes/${keyOf(request.source_volume_id ?? '')}/disk.img`;
    const handle = await fs.open(disk, 'r+');
    for (const mebibyte of [1, 5]) await handle.write(Buffer.alloc(65_536, 7), 0, 65_536, mebibyte * 2 ** 20);
    await handle.close();
    return next();
  },
});

/** Wrong in snapshots, groups of them, and what is told of their blocks. */
export const snapshotMutations: readonly Mutation[] = [
  {
    id: 'S01',
    wrong: 'has an internal error for what is not there',
    lies: () => ({ CreateSnapshot: ({ refuse }) => refuse('INTERNAL') }),
  },
  {
    id: 'S03',
    wrong: 'says that a snapshot is ready before it is',
    lies: () => ({
      CreateSnapshot: ({ edit }) =>
        edit(({ snapshot }) => ({ snapshot: { ...snapshot, ready_to_use: true } })),
    }),
  },
  {
    id: 'S05',
    wrong: 'takes any name',
    lies: () => ({ CreateSnapshot: ({ next }) => next({ name: 'a name' }) }),
  },
  {
    id: 'S06',
    wrong: 'restores to what is too small',
    lies: () => ({ CreateVolume: ({ next }) => next({ capacity_range: null }) }),
  },
  {
    id: 'X02',
    wrong: 'deletes a snapshot in use',
    lies: () => ({ DeleteSnapshot: ({ ok }) => ok() }),
  },
  {
    id: 'X03',
    wrong: 'cannot delete what is not there',
    lies: () => {
      let calls = 0;
      return {
        DeleteSnapshot: ({ next, refuse }) => {
          calls += 1;
          return calls > 1 ? refuse('NOT_FOUND') : next();
        },
      };
    },
  },
  {
    id: 'Y03',
    wrong: 'forgets the snapshots of a deleted volume',
    lies: () => ({ ListSnapshots: ({ ok }) => ok() }),
  },
  {
    id: 'Y04',
    wrong: 'filters by one thing alone',
    lies: () => ({ ListSnapshots: ({ next }) => next({ source_volume_id: '' }) }),
  },
  {
    id: 'Y05',
    wrong: 'lists snapshots that are ready alone',
    lies: () => ({
      ListSnapshots: ({ edit }) =>
        edit(({ entries }) => ({ entries: entries.filter(({ snapshot }) => snapshot?.ready_to_use) })),
    }),
  },
  {
    id: 'Z01',
    wrong: 'takes what is not there for a wrong argument',
    lies: () => ({ GetSnapshot: ({ refuse }) => refuse('INVALID_ARGUMENT') }),
  },
  {
    id: 'GC01',
    wrong: 'makes a group of nothing',
    lies: () => ({
      CreateVolumeGroupSnapshot: ({ ok }) => ok({ group_snapshot: { group_snapshot_id: 'g' } }),
    }),
  },
  {
    id: 'GC02',
    wrong: 'makes a group of those that are there, and then says NOT_FOUND',
    lies: () => ({
      CreateVolumeGroupSnapshot: async ({ next, request, refuse }) => {
        await next({ source_volume_ids: request.source_volume_ids?.slice(0, 1) });
        return refuse('NOT_FOUND');
      },
    }),
  },
  {
    id: 'GC05',
    wrong: 'has members that name no group',
    lies: () => ({
      CreateVolumeGroupSnapshot: ({ edit }) =>
        edit(({ group_snapshot }) => ({
          group_snapshot: {
            ...group_snapshot,
            snapshots: group_snapshot?.snapshots.map((one) => ({ ...one, group_snapshot_id: '' })),
          },
        })),
    }),
  },
  {
    id: 'GC06',
    wrong: 'has a group that is ready before its members',
    lies: () => ({
      CreateVolumeGroupSnapshot: ({ edit }) =>
        edit(({ group_snapshot }) => ({ group_snapshot: { ...group_snapshot, ready_to_use: true } })),
    }),
  },
  {
    id: 'GC08',
    wrong: 'groups what cannot be grouped',
    lies: () => ({ CreateVolume: ({ next }) => next({ parameters: {} }) }),
  },
  ...(['GC10', 'GC11'].map((id) => ({
    id,
    wrong: 'says that a group is deleted',
    lies: () => ({ DeleteVolumeGroupSnapshot: ({ ok }) => ok() }),
  })) satisfies Mutation[]),
  {
    id: 'GC12',
    wrong: 'does not compare snapshot_ids',
    lies: () => ({ GetVolumeGroupSnapshot: ({ ok }) => ok({ group_snapshot: { group_snapshot_id: 'g' } }) }),
  },
  {
    id: 'SM01',
    wrong: 'takes a negative number for no limit',
    lies: () => ({ GetMetadataAllocated: ({ next }) => next({ max_results: 0 }) }),
  },
  {
    id: 'SM02',
    wrong: 'has an internal error for what is not there',
    lies: () => ({ GetMetadataAllocated: ({ refuse }) => refuse('INTERNAL') }),
  },
  {
    id: 'SM04',
    wrong: 'starts at the beginning, wherever it is to start',
    honest: written,
    lies: (bench) => ({
      ...written(bench),
      GetMetadataAllocated: ({ next }) => next({ starting_offset: '0' }),
    }),
  },
  {
    id: 'SM06',
    wrong: 'tells of blocks of no size',
    honest: written,
    lies: (bench) => ({
      ...written(bench),
      GetMetadataAllocated: ({ edit }) =>
        edit((messages) =>
          messages.map((message) => ({
            ...message,
            block_metadata: message.block_metadata.map((one) => ({ ...one, size_bytes: '0' })),
          })),
        ),
    }),
  },
  {
    id: 'SM06',
    wrong: 'tells of blocks in reverse',
    honest: written,
    lies: (bench) => ({
      ...written(bench),
      GetMetadataAllocated: ({ edit }) =>
        edit((messages) =>
          [...messages]
            .reverse()
            .map((message) => ({ ...message, block_metadata: [...message.block_metadata].reverse() })),
        ),
    }),
  },
  {
    id: 'SM06',
    wrong: 'says VARIABLE_LENGTH for FIXED_LENGTH in one message of several',
    honest: written,
    lies: (bench) => ({
      ...written(bench),
      GetMetadataAllocated: ({ edit }) =>
        edit((messages) =>
          messages.map((message, index) => ({ ...message, block_metadata_type: 1 + (index % 2) })),
        ),
    }),
  },
  {
    id: 'SM07',
    wrong: 'starts at the beginning, wherever it is to start',
    honest: written,
    lies: (bench) => ({
      ...written(bench),
      GetMetadataAllocated: ({ next }) => next({ starting_offset: '0' }),
    }),
  },
  {
    id: 'SM07',
    wrong: 'leaves out the extent that it is to start in',
    honest: written,
    lies: (bench) => ({
      ...written(bench),
      GetMetadataAllocated: ({ next, request, ok }) =>
        request.starting_offset ? ok([{ block_metadata_type: 1 }]) : next(),
    }),
  },
  {
    id: 'SM09',
    wrong: 'ends a stream that failed as if it were complete',
    lies: () => ({ GetMetadataAllocated: ({ ok }) => ok([]) }),
  },
  {
    id: 'SM10',
    wrong: 'has an internal error for what is not there',
    lies: () => ({
      GetMetadataDelta: ({ next, request, refuse }) =>
        request.base_snapshot_id?.includes('unknown') ? refuse('INTERNAL') : next(),
    }),
  },
  {
    id: 'SM11',
    wrong: 'tells of changes that it did not track',
    lies: () => ({ CreateSnapshot: ({ next }) => next({ parameters: UNTRACKED }) }),
  },
  {
    id: 'SM13',
    wrong: 'starts at the beginning, wherever it is to start',
    lies: () => ({ GetMetadataDelta: ({ next }) => next({ starting_offset: '0' }) }),
  },
  {
    id: 'SM14',
    wrong: 'looks for a snapshot for a service that it does not have',
    kind: 'few',
    lies: () => ({ GetMetadataDelta: ({ refuse }) => refuse('NOT_FOUND') }),
  },
];
