import type { _csi_v1_ControllerServiceCapability_RPC_Type as ControllerType } from './gen/csi/v1/ControllerServiceCapability';
import type { _csi_v1_GroupControllerServiceCapability_RPC_Type as GroupType } from './gen/csi/v1/GroupControllerServiceCapability';
import type { _csi_v1_NodeServiceCapability_RPC_Type as NodeType } from './gen/csi/v1/NodeServiceCapability';
import type {
  _csi_v1_PluginCapability_VolumeExpansion_Type as ExpansionType,
  _csi_v1_PluginCapability_Service_Type as ServiceType,
} from './gen/csi/v1/PluginCapability';

type Known<Enum> = Exclude<Extract<Enum, string>, 'UNKNOWN'>;

/** The names a plugin can advertise, by the RPC that advertises them. */
export interface CapabilityNames {
  /** GetPluginCapabilities: its services, topology, and the two kinds of VolumeExpansion. */
  plugin: Known<ServiceType> | Known<ExpansionType>;
  controller: Known<ControllerType>;
  group: Known<GroupType>;
  node: Known<NodeType>;
}

export type CapabilityKind = keyof CapabilityNames;

/** What this plugin advertises. Sets of strings, so that a configuration can be tested against them as it is. */
export type Capabilities = { readonly [K in CapabilityKind]: ReadonlySet<string> };

/** One condition of an RPC: at least one of these capabilities is advertised. */
export interface Gate {
  readonly kind: CapabilityKind;
  readonly anyOf: readonly string[];
}

/** The first gate that `advertised` does not open. The RPC then answers UNIMPLEMENTED before anything else. */
export function closedGate(gates: readonly Gate[], advertised: Capabilities): Gate | undefined {
  return gates.find((gate) => !gate.anyOf.some((name) => advertised[gate.kind].has(name)));
}
