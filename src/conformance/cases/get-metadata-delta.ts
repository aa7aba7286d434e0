import { casesOf } from '../case';
import type { Probe } from '../probe';
import { cut } from './block-metadata';

const UNKNOWN = 'conformance-unknown-snapshot';

const pair = async (probe: Probe, more?: Record<string, string>) => {
  const { id, snapshot_id, bytes } = await cut(probe, more);
  const later = await probe.snapshot(id, more);
  return { bytes, request: { base_snapshot_id: snapshot_id, target_snapshot_id: later.snapshot_id } };
};

export const getMetadataDelta = casesOf('SnapshotMetadata.GetMetadataDelta', [
  {
    id: 'SM10',
    level: 'must',
    section: 'GetMetadataDelta Errors',
    title: 'either id empty: INVALID_ARGUMENT; either unknown: NOT_FOUND',
    run: async (probe) => {
      const { request } = await pair(probe);
      for (const field of ['base_snapshot_id', 'target_snapshot_id']) {
        await probe.refused('GetMetadataDelta', { ...request, [field]: '' }, 'INVALID_ARGUMENT');
        await probe.refused('GetMetadataDelta', { ...request, [field]: UNKNOWN }, 'NOT_FOUND');
      }
    },
  },
  {
    id: 'SM11',
    level: 'must',
    section: 'GetMetadataDelta Errors',
    needs: ['hint untrackedSnapshot'],
    title: 'changed blocks are not tracked: FAILED_PRECONDITION',
    run: async (probe) => {
      const { request } = await pair(probe, { ...probe.hints.untrackedSnapshot });
      await probe.refused('GetMetadataDelta', request, 'FAILED_PRECONDITION');
    },
  },
  {
    id: 'SM13',
    level: 'must',
    section: 'GetMetadataDelta Errors',
    title: 'starting_offset negative or beyond the size: OUT_OF_RANGE',
    run: async (probe) => {
      const { request, bytes } = await pair(probe);
      for (const starting_offset of ['-1', `${bytes + 1n}`])
        await probe.refused('GetMetadataDelta', { ...request, starting_offset }, 'OUT_OF_RANGE');
    },
  },
]);
