import type { ApiServer } from '../api-server';
import { inlineVolumeHandle, uniqueInlineName, uniqueVolumeName } from '../names';
import type { AccessMode, PersistentVolume, Pod, PodVolume, SecretReference, VolumeMode } from '../objects';

/** A volume of a pod as the kubelet works with it: of a PersistentVolume, inline, or rebuilt from what lies on the disk. */
export interface VolumeSpec {
  /** PV name, or the inline volume's name in its pod: the folder below the pod. */
  readonly specName: string;
  readonly uniqueName: string;
  readonly driver: string;
  readonly volumeHandle: string;
  readonly lifecycleMode: 'Persistent' | 'Ephemeral';
  readonly volumeMode: VolumeMode;
  readonly fsType: string;
  readonly accessModes: readonly AccessMode[];
  readonly mountOptions: readonly string[];
  readonly volumeAttributes: Readonly<Record<string, string>>;
  readonly nodeStageSecret: SecretReference | undefined;
  readonly nodePublishSecret: SecretReference | undefined;
  readonly nodeExpandSecret: SecretReference | undefined;
  /** From the pod: persistentVolumeClaim.readOnly, or the inline volume's readOnly. */
  readonly readOnly: boolean;
  /** `namespace/name` of the claim. */
  readonly claim: string | undefined;
}

export function persistentSpec(pv: PersistentVolume, readOnly: boolean): VolumeSpec {
  return {
    specName: pv.meta.name,
    uniqueName: uniqueVolumeName(pv.driver, pv.volumeHandle),
    driver: pv.driver,
    volumeHandle: pv.volumeHandle,
    lifecycleMode: 'Persistent',
    volumeMode: pv.volumeMode,
    fsType: pv.fsType,
    accessModes: pv.accessModes,
    mountOptions: pv.mountOptions,
    volumeAttributes: pv.volumeAttributes,
    nodeStageSecret: pv.secrets.nodeStage,
    nodePublishSecret: pv.secrets.nodePublish,
    nodeExpandSecret: pv.secrets.nodeExpand,
    readOnly,
    claim: pv.claim,
  };
}

export function inlineSpec(pod: Pod, name: string, csi: NonNullable<PodVolume['csi']>): VolumeSpec {
  const { uid, namespace } = pod.meta;
  return {
    specName: name,
    uniqueName: uniqueInlineName(uid, name),
    driver: csi.driver,
    volumeHandle: inlineVolumeHandle(uid, name),
    lifecycleMode: 'Ephemeral',
    volumeMode: 'Filesystem',
    fsType: csi.fsType,
    accessModes: [],
    mountOptions: [],
    volumeAttributes: csi.volumeAttributes,
    nodeStageSecret: undefined,
    nodePublishSecret:
      csi.nodePublishSecretRef === undefined ? undefined : { name: csi.nodePublishSecretRef, namespace },
    nodeExpandSecret: undefined,
    readOnly: csi.readOnly,
    claim: undefined,
  };
}

/** All that a pod's vol_data.json tells of a volume. `volumeMode`: by the folder in which it was found. */
export function reconstructedSpec(
  podUid: string,
  specName: string,
  data: Record<string, string>,
  volumeMode: VolumeMode,
): VolumeSpec {
  const { driverName = '', volumeHandle = '' } = data;
  const isInline = data.volumeLifecycleMode === 'Ephemeral';
  return {
    specName,
    uniqueName: isInline ? uniqueInlineName(podUid, specName) : uniqueVolumeName(driverName, volumeHandle),
    driver: driverName,
    volumeHandle,
    lifecycleMode: isInline ? 'Ephemeral' : 'Persistent',
    volumeMode,
    fsType: '',
    accessModes: [],
    mountOptions: [],
    volumeAttributes: {},
    nodeStageSecret: undefined,
    nodePublishSecret: undefined,
    nodeExpandSecret: undefined,
    readOnly: false,
    claim: undefined,
  };
}

/** Whether the attach/detach controller has to attach it first. */
export function isAttachable(api: ApiServer, spec: VolumeSpec): boolean {
  return spec.lifecycleMode === 'Persistent' && api.isAttachRequired(spec.driver);
}
