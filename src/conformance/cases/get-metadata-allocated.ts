import { casesOf } from '../case';
import { checkStream, cut, tuplesOf } from './block-metadata';

const UNKNOWN = 'conformance-unknown-snapshot';

export const getMetadataAllocated = casesOf('SnapshotMetadata.GetMetadataAllocated', [
  {
    id: 'SM01',
    level: 'must',
    section: 'GetMetadataAllocated Errors',
    title: 'an empty snapshot_id, or max_results negative: INVALID_ARGUMENT',
    run: async (probe) => {
      const { snapshot_id } = await cut(probe);
      for (const request of [{ snapshot_id: '' }, { snapshot_id, max_results: -1 }])
        await probe.refused('GetMetadataAllocated', request, 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'SM02',
    level: 'must',
    section: 'GetMetadataAllocated Errors',
    title: 'an unknown snapshot: NOT_FOUND',
    run: async (probe) => {
      await probe.refused('GetMetadataAllocated', { snapshot_id: UNKNOWN }, 'NOT_FOUND');
    },
  },
  {
    id: 'SM04',
    level: 'decision',
    section: 'GetMetadataAllocated Errors',
    title: 'starting_offset at the size: OK, no tuples',
    run: async (probe) => {
      const { snapshot_id, bytes } = await cut(probe);
      const request = { snapshot_id, starting_offset: `${bytes}` };
      probe.same(tuplesOf(await probe.ok('GetMetadataAllocated', request)), [], 'tuples');
    },
  },
  {
    id: 'SM06',
    level: 'must',
    section: 'GetMetadataAllocatedResponse',
    title:
      'the whole stream: type and capacity constant, tuples in order and of a size, of one size where it is fixed',
    run: async (probe) => {
      const { snapshot_id } = await cut(probe);
      for (const max_results of [0, 1])
        checkStream(probe, await probe.ok('GetMetadataAllocated', { snapshot_id, max_results }), max_results);
    },
  },
  {
    id: 'SM07',
    level: 'must',
    section: 'GetMetadataAllocatedRequest',
    title: 'starting_offset within an extent: the first tuple ends after it',
    run: async (probe) => {
      const { snapshot_id } = await cut(probe);
      const inside = tuplesOf(await probe.ok('GetMetadataAllocated', { snapshot_id })).at(-1);
      if (!inside) return probe.skip('nothing is allocated in a new volume');
      const offset = BigInt(inside.byte_offset) + BigInt(inside.size_bytes) - 1n;
      const request = { snapshot_id, starting_offset: `${offset}` };
      const [again] = tuplesOf(await probe.ok('GetMetadataAllocated', request));
      const end = BigInt(again?.byte_offset ?? 0) + BigInt(again?.size_bytes ?? 0);
      probe.that(end > offset, `a first tuple that ends after ${offset}`, again ?? 'none');
    },
  },
  {
    id: 'SM09',
    level: 'must',
    section: 'Special considerations for SnapshotMetadata',
    needs: ['hint failingStream'],
    title: 'a failure in the middle of the stream: it ends with an error, never as if it were complete',
    run: async (probe) => {
      const { snapshot_id } = await cut(probe);
      const request = { snapshot_id, ...probe.hints.failingStream };
      const answer = await probe.call('GetMetadataAllocated', request);
      probe.that(answer.code !== 'OK', 'an error', 'OK');
    },
  },
  {
    id: 'SM03',
    level: 'must',
    section: 'GetMetadataAllocated Errors',
    title: 'starting_offset negative or beyond the size: OUT_OF_RANGE',
    run: async (probe) => {
      const { snapshot_id, bytes } = await cut(probe);
      for (const starting_offset of ['-1', `${bytes + 1n}`])
        await probe.refused('GetMetadataAllocated', { snapshot_id, starting_offset }, 'OUT_OF_RANGE');
    },
  },
]);
