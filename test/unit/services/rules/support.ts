import { schemaEnums } from '../../../../src/csi/gen/schema';
import type { ClientRequestOf, CsiMethod } from '../../../../src/csi/rpcs';
import { CsiError } from '../../../../src/csi/status';
import { type RuleConfig, validateRequest } from '../../../../src/services/rules';
import { request } from '../../csi/wire';

const names = (...enums: string[]) => new Set(enums.flatMap((name) => Object.keys(schemaEnums[name] ?? {})));

/** Everything CSI 1.12 has. */
export const everything: RuleConfig = {
  plugin: names('csi.v1.PluginCapability.Service.Type', 'csi.v1.PluginCapability.VolumeExpansion.Type'),
  controller: names('csi.v1.ControllerServiceCapability.RPC.Type'),
  group: names('csi.v1.GroupControllerServiceCapability.RPC.Type'),
  node: names('csi.v1.NodeServiceCapability.RPC.Type'),
};

/** Everything but some capabilities of one kind. */
export function without(kind: 'plugin' | 'controller' | 'group' | 'node', ...missing: string[]): RuleConfig {
  return { ...everything, [kind]: new Set([...everything[kind]].filter((name) => !missing.includes(name))) };
}

export const mount = { mount: { fs_type: 'ext4' }, access_mode: { mode: 1 as const } };

/** One valid request a method, with every required field and nothing else. */
export const valid: { [M in CsiMethod]: ClientRequestOf<M> } = {
  GetPluginInfo: {},
  GetPluginCapabilities: {},
  Probe: {},
  CreateVolume: { name: 'pvc-1', volume_capabilities: [mount] },
  DeleteVolume: { volume_id: 'v1' },
  ControllerPublishVolume: { volume_id: 'v1', node_id: 'n1', volume_capability: mount },
  ControllerUnpublishVolume: { volume_id: 'v1' },
  ValidateVolumeCapabilities: { volume_id: 'v1', volume_capabilities: [mount] },
  ListVolumes: {},
  GetCapacity: {},
  ControllerGetCapabilities: {},
  CreateSnapshot: { name: 'snap-1', source_volume_id: 'v1' },
  DeleteSnapshot: { snapshot_id: 's1' },
  ListSnapshots: {},
  GetSnapshot: { snapshot_id: 's1' },
  ControllerExpandVolume: { volume_id: 'v1', capacity_range: { required_bytes: '1' } },
  ControllerGetVolume: { volume_id: 'v1' },
  ControllerModifyVolume: { volume_id: 'v1', mutable_parameters: { iops: '1' } },
  GroupControllerGetCapabilities: {},
  CreateVolumeGroupSnapshot: { name: 'group-1', source_volume_ids: ['v1'] },
  DeleteVolumeGroupSnapshot: { group_snapshot_id: 'g1', snapshot_ids: ['s1'] },
  GetVolumeGroupSnapshot: { group_snapshot_id: 'g1', snapshot_ids: ['s1'] },
  GetMetadataAllocated: { snapshot_id: 's1' },
  GetMetadataDelta: { base_snapshot_id: 's1', target_snapshot_id: 's2' },
  NodeStageVolume: { volume_id: 'v1', staging_target_path: '/stage', volume_capability: mount },
  NodeUnstageVolume: { volume_id: 'v1', staging_target_path: '/stage' },
  NodePublishVolume: { volume_id: 'v1', target_path: '/target', volume_capability: mount },
  NodeUnpublishVolume: { volume_id: 'v1', target_path: '/target' },
  NodeGetVolumeStats: { volume_id: 'v1', volume_path: '/target' },
  NodeExpandVolume: { volume_id: 'v1', volume_path: '/target' },
  NodeGetCapabilities: {},
  NodeGetInfo: {},
};

/**
 * What the rules say about a valid request with some fields replaced, as `CODE message`; `OK` when they have
 * nothing to say. The request travels through the real encoder and decoder.
 */
export function verdict<M extends CsiMethod>(
  method: M,
  fields: ClientRequestOf<M>,
  config: RuleConfig = everything,
): string {
  try {
    validateRequest(method, request(method, { ...valid[method], ...fields }), config);
    return 'OK';
  } catch (error) {
    if (!(error instanceof CsiError)) throw error;
    return `${error.codeName} ${error.message}`;
  }
}

/** The same for a field known only by its name, for tables of methods and fields. */
export function verdictOn(method: CsiMethod, field: string, value: unknown, config?: RuleConfig): string {
  return verdict(method, { [field]: value }, config);
}
