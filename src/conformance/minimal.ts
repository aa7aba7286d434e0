import type { ClientRequestOf, CsiMethod } from '../csi/rpcs';

/** Id of a volume, snapshot, group or node that is not there. */
export const UNKNOWN = 'conformance-unknown';

const capability = { mount: {}, access_mode: { mode: 1 as const } };

/** One well-formed request for each method, about things that do not exist. */
export const minimal: { readonly [M in CsiMethod]: ClientRequestOf<M> } = {
  GetPluginInfo: {},
  GetPluginCapabilities: {},
  Probe: {},
  // From a source that is not there: a volume is not to come of it.
  CreateVolume: {
    name: 'conformance-minimal',
    volume_capabilities: [capability],
    volume_content_source: { snapshot: { snapshot_id: UNKNOWN } },
  },
  DeleteVolume: { volume_id: UNKNOWN },
  ControllerPublishVolume: { volume_id: UNKNOWN, node_id: UNKNOWN, volume_capability: capability },
  ControllerUnpublishVolume: { volume_id: UNKNOWN },
  ValidateVolumeCapabilities: { volume_id: UNKNOWN, volume_capabilities: [capability] },
  ListVolumes: {},
  GetCapacity: {},
  ControllerGetCapabilities: {},
  CreateSnapshot: { name: 'conformance-minimal', source_volume_id: UNKNOWN },
  DeleteSnapshot: { snapshot_id: UNKNOWN },
  ListSnapshots: {},
  GetSnapshot: { snapshot_id: UNKNOWN },
  ControllerExpandVolume: { volume_id: UNKNOWN, capacity_range: { required_bytes: '1' } },
  ControllerGetVolume: { volume_id: UNKNOWN },
  ControllerModifyVolume: { volume_id: UNKNOWN, mutable_parameters: { conformance: 'x' } },
  GroupControllerGetCapabilities: {},
  CreateVolumeGroupSnapshot: { name: 'conformance-minimal', source_volume_ids: [UNKNOWN] },
  DeleteVolumeGroupSnapshot: { group_snapshot_id: UNKNOWN, snapshot_ids: [UNKNOWN] },
  GetVolumeGroupSnapshot: { group_snapshot_id: UNKNOWN, snapshot_ids: [UNKNOWN] },
  GetMetadataAllocated: { snapshot_id: UNKNOWN },
  GetMetadataDelta: { base_snapshot_id: UNKNOWN, target_snapshot_id: 'conformance-unknown-other' },
  NodeStageVolume: {
    volume_id: UNKNOWN,
    staging_target_path: '/conformance-nowhere/staging',
    volume_capability: capability,
  },
  NodeUnstageVolume: { volume_id: UNKNOWN, staging_target_path: '/conformance-nowhere/staging' },
  NodePublishVolume: {
    volume_id: UNKNOWN,
    staging_target_path: '/conformance-nowhere/staging',
    target_path: '/conformance-nowhere/target',
    volume_capability: capability,
  },
  NodeUnpublishVolume: { volume_id: UNKNOWN, target_path: '/conformance-nowhere/target' },
  NodeGetVolumeStats: { volume_id: UNKNOWN, volume_path: '/conformance-nowhere/target' },
  NodeExpandVolume: { volume_id: UNKNOWN, volume_path: '/conformance-nowhere/target' },
  NodeGetCapabilities: {},
  NodeGetInfo: {},
};
