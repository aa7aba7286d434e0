import type { NodeRpcs, RequestOf } from '../../csi/rpcs';
import { anything, message, optional, required } from './check';
import { secrets, stringMap, volumeContext } from './maps';
import { capacityRange } from './numbers';
import type { RuleTable } from './table';
import { absolutePath, id, optionalAbsolutePath, somePath } from './text';
import { volumeCapability } from './volume-capability';

const capability = volumeCapability('node');

export const nodeRules: RuleTable<NodeRpcs> = {
  NodeStageVolume: message<RequestOf<'NodeStageVolume'>>({
    volume_id: id,
    staging_target_path: absolutePath,
    volume_capability: required(capability),
    publish_context: stringMap,
    volume_context: volumeContext,
    secrets,
  }),
  NodeUnstageVolume: message<RequestOf<'NodeUnstageVolume'>>({
    volume_id: id,
    staging_target_path: absolutePath,
  }),
  NodePublishVolume: message<RequestOf<'NodePublishVolume'>>({
    volume_id: id,
    target_path: absolutePath,
    volume_capability: required(capability),
    // Its absence is FAILED_PRECONDITION, and no fault at all for an ephemeral volume: left to the service.
    staging_target_path: optionalAbsolutePath,
    publish_context: stringMap,
    volume_context: volumeContext,
    readonly: anything,
    secrets,
  }),
  NodeUnpublishVolume: message<RequestOf<'NodeUnpublishVolume'>>({
    volume_id: id,
    target_path: absolutePath,
  }),
  NodeGetVolumeStats: message<RequestOf<'NodeGetVolumeStats'>>({
    volume_id: id,
    volume_path: somePath,
    staging_target_path: optionalAbsolutePath,
  }),
  NodeExpandVolume: message<RequestOf<'NodeExpandVolume'>>({
    volume_id: id,
    volume_path: somePath,
    staging_target_path: optionalAbsolutePath,
    volume_capability: optional(capability),
    secrets,
    capacity_range: optional(capacityRange),
  }),
  NodeGetCapabilities: anything,
  NodeGetInfo: anything,
};
