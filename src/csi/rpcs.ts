import type { CapabilityKind, CapabilityNames, Gate } from './capabilities';
import type {
  ControllerRpcs,
  CsiMethod,
  CsiServiceName,
  GroupControllerRpcs,
  IdentityRpcs,
  Method,
  NodeRpcs,
  RegistrationMethod,
  RequestOf,
  SnapshotMetadataRpcs,
} from './rpc-types';

export type {
  ClientRequestOf,
  ClientResponseOf,
  ControllerRpcs,
  CsiMethod,
  CsiRpcs,
  CsiServiceName,
  GroupControllerRpcs,
  IdentityRpcs,
  Method,
  NodeRpcs,
  RegistrationMethod,
  RegistrationRpcs,
  RequestOf,
  ResponseOf,
  Rpcs,
  ServiceName,
  SnapshotMetadataRpcs,
} from './rpc-types';

type FieldsOfType<Message, Type> = {
  [F in keyof Message]-?: Message[F] extends Type ? F : never;
}[keyof Message] &
  string;

/** What a request is about, and which of its fields says so. */
export interface SubjectFields<Request = object> {
  volumeId?: FieldsOfType<Request, string>;
  volumeIds?: FieldsOfType<Request, string[]>;
  snapshotId?: FieldsOfType<Request, string>;
  baseSnapshotId?: FieldsOfType<Request, string>;
  snapshotIds?: FieldsOfType<Request, string[]>;
  groupSnapshotId?: FieldsOfType<Request, string>;
  name?: FieldsOfType<Request, string>;
  nodeId?: FieldsOfType<Request, string>;
  stagingTargetPath?: FieldsOfType<Request, string>;
  targetPath?: FieldsOfType<Request, string>;
  /** Where stats and expand look: a staging or a target path. */
  volumePath?: FieldsOfType<Request, string>;
}

export interface Rpc<M extends Method = Method> {
  readonly service: M extends RegistrationMethod ? 'Registration' : CsiServiceName;
  readonly method: M;
  /** As in the :path header: /csi.v1.Node/NodeStageVolume. */
  readonly path: string;
  readonly requestType: string;
  readonly responseType: string;
  /** No method streams from the client. */
  readonly serverStreaming: boolean;
  /** All of them must be open: closedGate. */
  readonly gates: readonly Gate[];
  /** May change or go away in a later minor version of CSI. */
  readonly alpha: boolean;
  /** Changes a volume, a snapshot, an attachment or a mount. */
  readonly mutating: boolean;
  readonly subject: Readonly<SubjectFields<RequestOf<M>>>;
}

interface Entry<M extends Method> {
  capability?: Gate;
  mutating?: true;
  alpha?: true;
  serverStreaming?: true;
  subject?: SubjectFields<RequestOf<M>>;
}

type Table<Service> = { [M in keyof Service & Method]: Entry<M> };

const plugin = gateOf('plugin');
const controller = gateOf('controller');
const group = gateOf('group');
const node = gateOf('node');

const identityRpcs: Table<IdentityRpcs> = {
  GetPluginInfo: {},
  GetPluginCapabilities: {},
  Probe: {},
};

const controllerRpcs: Table<ControllerRpcs> = {
  CreateVolume: {
    capability: controller('CREATE_DELETE_VOLUME'),
    mutating: true,
    subject: { name: 'name' },
  },
  DeleteVolume: {
    capability: controller('CREATE_DELETE_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id' },
  },
  ControllerPublishVolume: {
    capability: controller('PUBLISH_UNPUBLISH_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id', nodeId: 'node_id' },
  },
  ControllerUnpublishVolume: {
    capability: controller('PUBLISH_UNPUBLISH_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id', nodeId: 'node_id' },
  },
  ValidateVolumeCapabilities: { subject: { volumeId: 'volume_id' } },
  ListVolumes: { capability: controller('LIST_VOLUMES') },
  GetCapacity: { capability: controller('GET_CAPACITY') },
  ControllerGetCapabilities: {},
  CreateSnapshot: {
    capability: controller('CREATE_DELETE_SNAPSHOT'),
    mutating: true,
    subject: { volumeId: 'source_volume_id', name: 'name' },
  },
  DeleteSnapshot: {
    capability: controller('CREATE_DELETE_SNAPSHOT'),
    mutating: true,
    subject: { snapshotId: 'snapshot_id' },
  },
  ListSnapshots: {
    capability: controller('LIST_SNAPSHOTS'),
    subject: { volumeId: 'source_volume_id', snapshotId: 'snapshot_id' },
  },
  GetSnapshot: {
    capability: controller('GET_SNAPSHOT'),
    alpha: true,
    subject: { snapshotId: 'snapshot_id' },
  },
  ControllerExpandVolume: {
    capability: controller('EXPAND_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id' },
  },
  ControllerGetVolume: {
    capability: controller('GET_VOLUME'),
    alpha: true,
    subject: { volumeId: 'volume_id' },
  },
  ControllerModifyVolume: {
    capability: controller('MODIFY_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id' },
  },
};

const groupSnapshots = group('CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT');

const groupControllerRpcs: Table<GroupControllerRpcs> = {
  GroupControllerGetCapabilities: {},
  CreateVolumeGroupSnapshot: {
    capability: groupSnapshots,
    mutating: true,
    subject: { name: 'name', volumeIds: 'source_volume_ids' },
  },
  DeleteVolumeGroupSnapshot: {
    capability: groupSnapshots,
    mutating: true,
    subject: { groupSnapshotId: 'group_snapshot_id', snapshotIds: 'snapshot_ids' },
  },
  GetVolumeGroupSnapshot: {
    capability: groupSnapshots,
    subject: { groupSnapshotId: 'group_snapshot_id', snapshotIds: 'snapshot_ids' },
  },
};

const snapshotMetadataRpcs: Table<SnapshotMetadataRpcs> = {
  GetMetadataAllocated: {
    alpha: true,
    serverStreaming: true,
    subject: { snapshotId: 'snapshot_id' },
  },
  GetMetadataDelta: {
    alpha: true,
    serverStreaming: true,
    subject: { snapshotId: 'target_snapshot_id', baseSnapshotId: 'base_snapshot_id' },
  },
};

const nodeRpcs: Table<NodeRpcs> = {
  NodeStageVolume: {
    capability: node('STAGE_UNSTAGE_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id', stagingTargetPath: 'staging_target_path' },
  },
  NodeUnstageVolume: {
    capability: node('STAGE_UNSTAGE_VOLUME'),
    mutating: true,
    subject: { volumeId: 'volume_id', stagingTargetPath: 'staging_target_path' },
  },
  NodePublishVolume: {
    mutating: true,
    subject: {
      volumeId: 'volume_id',
      stagingTargetPath: 'staging_target_path',
      targetPath: 'target_path',
    },
  },
  NodeUnpublishVolume: {
    mutating: true,
    subject: { volumeId: 'volume_id', targetPath: 'target_path' },
  },
  NodeGetVolumeStats: {
    capability: node('GET_VOLUME_STATS', 'VOLUME_CONDITION'),
    subject: {
      volumeId: 'volume_id',
      stagingTargetPath: 'staging_target_path',
      volumePath: 'volume_path',
    },
  },
  NodeExpandVolume: {
    capability: node('EXPAND_VOLUME'),
    mutating: true,
    subject: {
      volumeId: 'volume_id',
      stagingTargetPath: 'staging_target_path',
      volumePath: 'volume_path',
    },
  },
  NodeGetCapabilities: {},
  // The specification asks for it only beside ControllerPublishVolume; the kubelet always calls it.
  NodeGetInfo: {},
};

const registrationRpcs: { readonly [M in RegistrationMethod]: Rpc<M> } = {
  GetInfo: registrationRow('GetInfo', 'InfoRequest', 'PluginInfo'),
  NotifyRegistrationStatus: registrationRow(
    'NotifyRegistrationStatus',
    'RegistrationStatus',
    'RegistrationStatusResponse',
  ),
};

/** The 32 methods of CSI 1.12, and the two by which the kubelet registers a plugin. */
export const rpcs: { readonly [M in Method]: Rpc<M> } = {
  ...registrationRpcs,
  ...rows('Identity', identityRpcs),
  ...rows('Controller', controllerRpcs, plugin('CONTROLLER_SERVICE')),
  ...rows('GroupController', groupControllerRpcs, plugin('GROUP_CONTROLLER_SERVICE')),
  ...rows('SnapshotMetadata', snapshotMetadataRpcs, plugin('SNAPSHOT_METADATA_SERVICE')),
  ...rows('Node', nodeRpcs),
};

export const registrationMethods = Object.keys(registrationRpcs) as readonly RegistrationMethod[];

/** Those of csi.v1. */
export const methods = Object.keys(rpcs).filter(
  (name) => !Object.hasOwn(registrationRpcs, name),
) as readonly CsiMethod[];

export function isMethod(name: string): name is Method {
  return Object.hasOwn(rpcs, name);
}

/** What a request is about; a part it leaves empty is absent. */
export type Subject = { -readonly [K in keyof SubjectFields]?: K extends `${string}Ids` ? string[] : string };

export function subjectOf<M extends Method>(method: M, request: RequestOf<M>): Subject {
  const subject: Subject = {};
  for (const [part, field] of Object.entries(rpcs[method].subject)) {
    const value = request[field as keyof RequestOf<M>] as string | string[] | undefined;
    if (value !== undefined && value.length > 0) Object.assign(subject, { [part]: value });
  }
  return subject;
}

function gateOf<K extends CapabilityKind>(kind: K) {
  return (...anyOf: CapabilityNames[K][]): Gate => ({ kind, anyOf });
}

function registrationRow<M extends RegistrationMethod>(method: M, request: string, response: string): Rpc<M> {
  const row: Rpc<RegistrationMethod> = {
    service: 'Registration',
    method,
    path: `/pluginregistration.Registration/${method}`,
    requestType: `pluginregistration.${request}`,
    responseType: `pluginregistration.${response}`,
    serverStreaming: false,
    gates: [],
    alpha: false,
    mutating: false,
    subject: {},
  };
  return row as Rpc<M>;
}

function rows<T extends Table<object>>(service: CsiServiceName, table: T, serviceGate?: Gate) {
  const entries = Object.entries(table) as [Method, Entry<Method>][];
  const filled = entries.map(([method, entry]): [Method, Rpc] => [
    method,
    {
      service,
      method,
      path: `/csi.v1.${service}/${method}`,
      requestType: `csi.v1.${method}Request`,
      responseType: `csi.v1.${method}Response`,
      serverStreaming: entry.serverStreaming ?? false,
      gates: [serviceGate, entry.capability].filter((gate) => gate !== undefined),
      alpha: entry.alpha ?? false,
      mutating: entry.mutating ?? false,
      subject: entry.subject ?? {},
    },
  ]);
  return Object.fromEntries(filled) as { [M in keyof T & Method]: Rpc<M> };
}
