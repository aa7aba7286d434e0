import type { RequestOf, SnapshotMetadataRpcs } from '../../csi/rpcs';
import { message } from './check';
import { secrets } from './maps';
import { notNegative, startingOffset } from './numbers';
import type { RuleTable } from './table';
import { id } from './text';

/** The offset stands last: OUT_OF_RANGE must not hide an INVALID_ARGUMENT. */
export const snapshotMetadataRules: RuleTable<SnapshotMetadataRpcs> = {
  GetMetadataAllocated: message<RequestOf<'GetMetadataAllocated'>>({
    snapshot_id: id,
    max_results: notNegative,
    secrets,
    starting_offset: startingOffset,
  }),
  GetMetadataDelta: message<RequestOf<'GetMetadataDelta'>>({
    base_snapshot_id: id,
    target_snapshot_id: id,
    max_results: notNegative,
    secrets,
    starting_offset: startingOffset,
  }),
};
