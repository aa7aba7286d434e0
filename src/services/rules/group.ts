import type { GroupControllerRpcs, RequestOf } from '../../csi/rpcs';
import { anything, atLeastOne, each, message } from './check';
import { secrets, stringMap } from './maps';
import type { RuleTable } from './table';
import { id, newName } from './text';

/** An empty snapshot_ids is a mismatch of an existing group; an unknown group must be told first: left to the service. */
const snapshotIds = each(id);

export const groupControllerRules: RuleTable<GroupControllerRpcs> = {
  GroupControllerGetCapabilities: anything,
  CreateVolumeGroupSnapshot: message<RequestOf<'CreateVolumeGroupSnapshot'>>({
    name: newName,
    source_volume_ids: atLeastOne(id),
    parameters: stringMap,
    secrets,
  }),
  DeleteVolumeGroupSnapshot: message<RequestOf<'DeleteVolumeGroupSnapshot'>>({
    group_snapshot_id: id,
    snapshot_ids: snapshotIds,
    secrets,
  }),
  GetVolumeGroupSnapshot: message<RequestOf<'GetVolumeGroupSnapshot'>>({
    group_snapshot_id: id,
    snapshot_ids: snapshotIds,
    secrets,
  }),
};
