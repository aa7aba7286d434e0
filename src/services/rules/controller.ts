import type { ControllerRpcs, RequestOf } from '../../csi/rpcs';
import { allOf, anything, atLeastOne, each, message, onlyWith, optional, required } from './check';
import { contentSource } from './content-source';
import { secrets, stringMap, volumeContext } from './maps';
import { capacityRange, notNegative } from './numbers';
import type { RuleTable } from './table';
import { id, newName, nodeId, optionalId, optionalNodeId, text } from './text';
import { topology, topologyRequirement } from './topology';
import { askedCapability, volumeCapability } from './volume-capability';

const capability = volumeCapability('controller');

const isSet = (value: unknown) => value !== null;
const hasKeys = (map: object) => Object.keys(map).length > 0;

const withTopology = <T>() => onlyWith<T>('plugin', 'VOLUME_ACCESSIBILITY_CONSTRAINTS', isSet);

const mutableParameters = allOf(
  onlyWith<{ [key: string]: string }>('controller', 'MODIFY_VOLUME', hasKeys),
  stringMap,
);

/** A capacity range stands last: OUT_OF_RANGE must not hide an INVALID_ARGUMENT. */
export const controllerRules: RuleTable<ControllerRpcs> = {
  CreateVolume: message<RequestOf<'CreateVolume'>>({
    name: newName,
    volume_capabilities: atLeastOne(capability),
    parameters: stringMap,
    mutable_parameters: mutableParameters,
    secrets,
    volume_content_source: optional(contentSource),
    accessibility_requirements: allOf(withTopology(), optional(topologyRequirement)),
    capacity_range: optional(capacityRange),
  }),
  DeleteVolume: message<RequestOf<'DeleteVolume'>>({ volume_id: id, secrets }),
  ControllerPublishVolume: message<RequestOf<'ControllerPublishVolume'>>({
    volume_id: id,
    node_id: nodeId,
    volume_capability: required(capability),
    readonly: onlyWith<boolean>('controller', 'PUBLISH_READONLY', (readonly) => readonly),
    secrets,
    volume_context: volumeContext,
  }),
  ControllerUnpublishVolume: message<RequestOf<'ControllerUnpublishVolume'>>({
    volume_id: id,
    node_id: optionalNodeId,
    secrets,
  }),
  ValidateVolumeCapabilities: message<RequestOf<'ValidateVolumeCapabilities'>>({
    volume_id: id,
    volume_capabilities: atLeastOne(askedCapability),
    volume_context: volumeContext,
    parameters: stringMap,
    mutable_parameters: mutableParameters,
    secrets,
  }),
  ListVolumes: message<RequestOf<'ListVolumes'>>({ max_entries: notNegative, starting_token: text() }),
  GetCapacity: message<RequestOf<'GetCapacity'>>({
    volume_capabilities: each(askedCapability),
    parameters: stringMap,
    accessible_topology: allOf(withTopology(), optional(topology)),
  }),
  ControllerGetCapabilities: anything,
  CreateSnapshot: message<RequestOf<'CreateSnapshot'>>({
    name: newName,
    source_volume_id: id,
    parameters: stringMap,
    secrets,
  }),
  DeleteSnapshot: message<RequestOf<'DeleteSnapshot'>>({ snapshot_id: id, secrets }),
  ListSnapshots: message<RequestOf<'ListSnapshots'>>({
    max_entries: notNegative,
    starting_token: text(),
    source_volume_id: optionalId,
    snapshot_id: optionalId,
    secrets,
  }),
  GetSnapshot: message<RequestOf<'GetSnapshot'>>({ snapshot_id: id, secrets }),
  ControllerExpandVolume: message<RequestOf<'ControllerExpandVolume'>>({
    volume_id: id,
    volume_capability: optional(capability),
    secrets,
    capacity_range: required(capacityRange),
  }),
  ControllerGetVolume: message<RequestOf<'ControllerGetVolume'>>({ volume_id: id }),
  ControllerModifyVolume: message<RequestOf<'ControllerModifyVolume'>>({
    volume_id: id,
    // Empty is INVALID_ARGUMENT too, but an unknown volume must be told first: left to the service.
    mutable_parameters: stringMap,
    secrets,
  }),
};
