import type { ClientRequestOf, CsiMethod } from '../../src/csi/rpcs';

const capability = { mount: {}, access_mode: { mode: 1 as const } };

/** One well-formed request for each method, about things that do not exist. */
export const minimal: { readonly [M in CsiMethod]: ClientRequestOf<M> } = {
  GetPluginInfo: {},
  GetPluginCapabilities: {},
  Probe: {},
  CreateVolume: { name: 'minimal', volume_capabilities: [capability] },
  DeleteVolume: { volume_id: 'unknown' },
  ControllerPublishVolume: { volume_id: 'unknown', node_id: 'node-1', volume_capability: capability },
  ControllerUnpublishVolume: { volume_id: 'unknown' },
  ValidateVolumeCapabilities: { volume_id: 'unknown', volume_capabilities: [capability] },
  ListVolumes: {},
  GetCapacity: {},
  ControllerGetCapabilities: {},
  CreateSnapshot: { name: 'minimal', source_volume_id: 'unknown' },
  DeleteSnapshot: { snapshot_id: 'unknown' },
  ListSnapshots: {},
  GetSnapshot: { snapshot_id: 'unknown' },
  ControllerExpandVolume: { volume_id: 'unknown', capacity_range: { required_bytes: '1' } },
  ControllerGetVolume: { volume_id: 'unknown' },
  ControllerModifyVolume: { volume_id: 'unknown', mutable_parameters: { readAheadKiB: '4' } },
  GroupControllerGetCapabilities: {},
  CreateVolumeGroupSnapshot: { name: 'minimal', source_volume_ids: ['unknown'] },
  DeleteVolumeGroupSnapshot: { group_snapshot_id: 'unknown', snapshot_ids: ['unknown'] },
  GetVolumeGroupSnapshot: { group_snapshot_id: 'unknown', snapshot_ids: ['unknown'] },
  GetMetadataAllocated: { snapshot_id: 'unknown' },
  GetMetadataDelta: { base_snapshot_id: 'unknown', target_snapshot_id: 'other' },
  NodeStageVolume: {
    volume_id: 'unknown',
    staging_target_path: '/nowhere/staging',
    volume_capability: capability,
  },
  NodeUnstageVolume: { volume_id: 'unknown', staging_target_path: '/nowhere/staging' },
  NodePublishVolume: {
    volume_id: 'unknown',
    staging_target_path: '/nowhere/staging',
    target_path: '/nowhere/target',
    volume_capability: capability,
  },
  NodeUnpublishVolume: { volume_id: 'unknown', target_path: '/nowhere/target' },
  NodeGetVolumeStats: { volume_id: 'unknown', volume_path: '/nowhere/target' },
  NodeExpandVolume: { volume_id: 'unknown', volume_path: '/nowhere/target' },
  NodeGetCapabilities: {},
  NodeGetInfo: {},
};
