/** The Kubernetes objects of a rehearsal: of each what volumes depend on, under the names of the API. */

export interface ObjectMeta {
  readonly name: string;
  /** '' for what has no namespace. */
  readonly namespace: string;
  readonly uid: string;
}

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];
export type VolumeMode = 'Filesystem' | 'Block';

export interface SecretReference {
  readonly name: string;
  readonly namespace: string;
}

export interface InlineCsiVolume {
  readonly driver: string;
  readonly fsType: string;
  readonly readOnly: boolean;
  readonly volumeAttributes: Readonly<Record<string, string>>;
  /** In the pod's namespace. */
  readonly nodePublishSecretRef: string | undefined;
}

/** A volume in a container's filesystem. */
export interface ContainerMount {
  readonly container: string;
  /** Of it among the container's volumeMounts: a part of the path of its bind. */
  readonly index: number;
  readonly volume: string;
  /** A folder or file in the volume; undefined: all of it. */
  readonly subPath: string | undefined;
}

export interface PodVolume {
  readonly name: string;
  readonly claim: { readonly claimName: string; readonly readOnly: boolean } | undefined;
  readonly csi: InlineCsiVolume | undefined;
  /** A generic ephemeral volume: what its claim (in `claim`) is made of, with the pod as its owner. */
  readonly template: ClaimTemplate | undefined;
}

export interface ClaimTemplate {
  readonly storageClassName: string | undefined;
  readonly accessModes: readonly AccessMode[];
  readonly volumeMode: VolumeMode;
  readonly requestBytes: bigint;
}

/** A topology term: every label with its value. */
export type Segments = Readonly<Record<string, string>>;

/** matchLabelExpressions, or matchExpressions with `In`: every label with one of its values. */
export type LabelTerm = Readonly<Record<string, readonly string[]>>;

export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds: number;
}

export interface Pod {
  readonly kind: 'Pod';
  readonly meta: ObjectMeta;
  readonly volumes: readonly PodVolume[];
  readonly containerMounts: readonly ContainerMount[];
  /** Names of volumes that containers have as devices (volumeDevices). */
  readonly devices: ReadonlySet<string>;
  readonly fsGroup: number | undefined;
  readonly fsGroupChangePolicy: 'Always' | 'OnRootMismatch';
  readonly serviceAccountName: string;
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
  /** Set by the scheduler, or by the manifest. */
  nodeName: string | undefined;
  phase: 'Pending' | 'Running' | 'Failed';
  reason: string | undefined;
  /** Whether its containers run. They do not end because the kubelet does. */
  containersRunning: boolean;
  /** None of its containers runs or ever will, and its status says so: a kubelet that starts later knows it. */
  terminated: boolean;
  deletionTimestamp: number | undefined;
}

export interface PersistentVolumeClaim {
  readonly kind: 'PersistentVolumeClaim';
  readonly meta: ObjectMeta;
  readonly storageClassName: string | undefined;
  readonly accessModes: readonly AccessMode[];
  readonly volumeMode: VolumeMode;
  /** uid of the pod that it goes with (a generic ephemeral volume). */
  readonly ownerUid: string | undefined;
  /** Of the PersistentVolume that it is bound to. */
  volumeName: string | undefined;
  requestBytes: bigint;
  phase: 'Pending' | 'Bound';
  /** status.capacity; undefined before it is bound. */
  capacityBytes: bigint | undefined;
  /** status.allocatedResources[storage]. */
  allocatedBytes: bigint | undefined;
  /** status.allocatedResourceStatuses[storage]. */
  resizeStatus: ResizeStatus | undefined;
  /** volume.kubernetes.io/node-expansion-not-required: ControllerExpandVolume said so. */
  nodeExpansionNotRequired?: boolean;
  /** volume.kubernetes.io/storage-provisioner: the persistentvolume-controller asks for a volume from it. */
  storageProvisioner?: string;
  /** Where the first pod that uses it was put (WaitForFirstConsumer). */
  selectedNode: string | undefined;
  deletionTimestamp: number | undefined;
}

/** A claim as it is when it has just been made. */
export function newClaim(
  meta: ObjectMeta,
  template: ClaimTemplate,
  { ownerUid, volumeName }: { ownerUid?: string; volumeName?: string | undefined } = {},
): PersistentVolumeClaim {
  return {
    kind: 'PersistentVolumeClaim',
    meta,
    ...template,
    ownerUid,
    volumeName,
    phase: 'Pending',
    capacityBytes: undefined,
    allocatedBytes: undefined,
    resizeStatus: undefined,
    selectedNode: undefined,
    deletionTimestamp: undefined,
  };
}

export type ResizeStatus =
  | 'ControllerResizeInProgress'
  | 'ControllerResizeInfeasible'
  | 'NodeResizePending'
  | 'NodeResizeInProgress'
  | 'NodeResizeInfeasible';

export interface PersistentVolume {
  readonly kind: 'PersistentVolume';
  readonly meta: ObjectMeta;
  readonly driver: string;
  readonly volumeHandle: string;
  readonly fsType: string;
  readonly readOnly: boolean;
  readonly volumeAttributes: Readonly<Record<string, string>>;
  readonly accessModes: readonly AccessMode[];
  readonly volumeMode: VolumeMode;
  readonly mountOptions: readonly string[];
  readonly storageClassName: string | undefined;
  readonly reclaimPolicy: 'Delete' | 'Retain';
  readonly secrets: SecretReferences;
  /** spec.nodeAffinity.required: a node has to be of one of them; none: any node. */
  readonly nodeAffinity: readonly LabelTerm[];
  /** Made by the provisioner, which then also deletes it. */
  readonly provisioned: boolean;
  capacityBytes: bigint;
  phase: 'Available' | 'Bound' | 'Released';
  /** `namespace/name` of its claim. */
  claim: string | undefined;
}

export interface SecretReferences {
  readonly provisioner?: SecretReference;
  readonly controllerPublish?: SecretReference;
  readonly controllerExpand?: SecretReference;
  readonly nodeStage?: SecretReference;
  readonly nodePublish?: SecretReference;
  readonly nodeExpand?: SecretReference;
}

export interface StorageClass {
  readonly kind: 'StorageClass';
  readonly meta: ObjectMeta;
  readonly provisioner: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly reclaimPolicy: 'Delete' | 'Retain';
  readonly bindingMode: 'Immediate' | 'WaitForFirstConsumer';
  readonly mountOptions: readonly string[];
  readonly allowVolumeExpansion: boolean;
  /** Where volumes of it may be; none: anywhere. */
  readonly allowedTopologies: readonly LabelTerm[];
  readonly isDefault: boolean;
}

export interface CsiDriverObject {
  readonly kind: 'CSIDriver';
  readonly meta: ObjectMeta;
  readonly attachRequired: boolean;
  readonly podInfoOnMount: boolean;
  readonly fsGroupPolicy: 'ReadWriteOnceWithFSType' | 'File' | 'None';
  readonly volumeLifecycleModes: readonly ('Persistent' | 'Ephemeral')[];
  readonly requiresRepublish: boolean;
  readonly tokenRequests: readonly TokenRequest[];
  readonly serviceAccountTokenInSecrets: boolean;
  readonly nodeAllocatableUpdatePeriodSeconds: number | undefined;
}

export interface Secret {
  readonly kind: 'Secret';
  readonly meta: ObjectMeta;
  readonly data: Readonly<Record<string, string>>;
}

export interface VolumeAttachment {
  readonly kind: 'VolumeAttachment';
  readonly meta: ObjectMeta;
  readonly attacher: string;
  readonly persistentVolumeName: string;
  readonly nodeName: string;
  /** The node's id for the driver when it was attached (an annotation): needed when CSINode has lost the driver. */
  nodeId: string | undefined;
  attached: boolean;
  attachmentMetadata: Readonly<Record<string, string>>;
  attachError: string | undefined;
  /** status.attachError.errorCode: of gRPC. */
  attachErrorCode: number | undefined;
  detachError: string | undefined;
  deletionTimestamp: number | undefined;
}

export interface NodeObject {
  readonly kind: 'Node';
  readonly meta: ObjectMeta;
  ready: boolean;
  outOfService: boolean;
  /** Unique volume names, as the kubelet reported them last. */
  volumesInUse: readonly string[];
  /** Unique volume names, as the attach/detach controller reported them last. */
  volumesAttached: readonly string[];
  /** Those that drivers gave it: their topology segments. They stay when a driver goes. */
  readonly labels: Map<string, string>;
  /** Driver name to the number of volumes that may be attached; no entry: no limit. */
  readonly allocatable: Map<string, number>;
  /** Driver name to the keys of its topology: what CSINode says. */
  readonly topologyKeys: Map<string, readonly string[]>;
  /** Driver name to node id: what CSINode says. */
  readonly csiDrivers: Map<string, string>;
  lastHeartbeat: number;
}

export type ManifestObject =
  | Pod
  | PersistentVolumeClaim
  | PersistentVolume
  | StorageClass
  | CsiDriverObject
  | Secret
  | VolumeAttachment;

/** `namespace/name`, or the name alone of what has no namespace. */
export function keyOfObject({ namespace, name }: ObjectMeta): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
