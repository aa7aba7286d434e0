import type { VolumeSpec } from './spec';

/** Of `globalmount`. */
export type DeviceMountState = 'NotMounted' | 'Uncertain' | 'GloballyMounted';

export interface MountedPod {
  readonly podUid: string;
  /** `namespace/name`, as far as it is known. */
  podName: string;
  readonly spec: VolumeSpec;
  /** Mounted, or perhaps: NodePublishVolume was sent and no final answer came. */
  state: 'Mounted' | 'Uncertain';
  remountRequired: boolean;
  /** From vol_data.json after a restart, and not confirmed by a mount since. */
  reconstructed: boolean;
}

export interface AttachedVolume {
  readonly uniqueName: string;
  spec: VolumeSpec;
  readonly isAttachable: boolean;
  /** Uncertain: found on the disk, and not yet looked up in the node's status. */
  attachState: 'Attached' | 'Uncertain';
  device: DeviceMountState;
  /** Found on the disk at start, and not detached since: no error makes the kubelet forget that it may be mounted. */
  readonly deviceReconstructed: boolean;
  readonly pods: Map<string, MountedPod>;
  /** The size that the node has done its part for. */
  capacityBytes: bigint | undefined;
  /** NodeExpandVolume said FAILED_PRECONDITION: it is not asked again. */
  expandInUse: boolean;
  /** It failed for good at least once. */
  expansionFailed: boolean;
}

/** What the kubelet believes is attached and mounted. It learns it from the answers of the driver, and looks at nothing. */
export class ActualStateOfWorld {
  private readonly volumes = new Map<string, AttachedVolume>();

  constructor(private readonly changed: (volume: AttachedVolume, what: string) => void) {}

  get(uniqueName: string): AttachedVolume | undefined {
    return this.volumes.get(uniqueName);
  }

  all(): AttachedVolume[] {
    return [...this.volumes.values()];
  }

  markAttached(spec: VolumeSpec, isAttachable: boolean, capacityBytes: bigint | undefined): AttachedVolume {
    const known = this.volumes.get(spec.uniqueName);
    if (known) {
      known.attachState = 'Attached';
      known.spec = spec;
      known.capacityBytes ??= capacityBytes;
      return known;
    }
    const volume: AttachedVolume = {
      uniqueName: spec.uniqueName,
      spec,
      isAttachable,
      attachState: 'Attached',
      device: 'NotMounted',
      deviceReconstructed: false,
      pods: new Map(),
      capacityBytes,
      expandInUse: false,
      expansionFailed: false,
    };
    this.volumes.set(spec.uniqueName, volume);
    this.changed(volume, isAttachable ? 'attached' : 'needs no attach');
    return volume;
  }

  /** Found on the disk at start: everything about it is uncertain. */
  addReconstructed(spec: VolumeSpec, isAttachable: boolean, podUid: string): void {
    let volume = this.volumes.get(spec.uniqueName);
    if (!volume) {
      volume = {
        uniqueName: spec.uniqueName,
        spec,
        isAttachable,
        attachState: 'Uncertain',
        device: spec.lifecycleMode === 'Persistent' ? 'Uncertain' : 'NotMounted',
        deviceReconstructed: true,
        pods: new Map(),
        capacityBytes: undefined,
        expandInUse: false,
        expansionFailed: false,
      };
      this.volumes.set(spec.uniqueName, volume);
    }
    volume.pods.set(podUid, {
      podUid,
      podName: podUid,
      spec,
      state: 'Uncertain',
      remountRequired: false,
      reconstructed: true,
    });
    this.changed(volume, `reconstructed from vol_data.json: device ${volume.device}, pod mount Uncertain`);
  }

  /** A device that was mounted once is never demoted by a later error of a mount. */
  markDevice(volume: AttachedVolume, state: DeviceMountState): void {
    if (volume.device === state) return;
    const before = volume.device;
    volume.device = state;
    this.changed(volume, `device ${before} → ${state}`);
  }

  markPod(
    volume: AttachedVolume,
    pod: Omit<MountedPod, 'state' | 'remountRequired' | 'reconstructed'>,
    state: MountedPod['state'],
  ): void {
    const known = volume.pods.get(pod.podUid);
    const before = known?.state ?? 'NotMounted';
    volume.pods.set(pod.podUid, {
      ...pod,
      state,
      remountRequired: false,
      reconstructed: state === 'Uncertain' && known?.reconstructed === true,
    });
    if (before !== state) this.changed(volume, `pod mount ${before} → ${state}`);
  }

  forgetPod(volume: AttachedVolume, podUid: string): void {
    const known = volume.pods.get(podUid);
    if (!known) return;
    volume.pods.delete(podUid);
    this.changed(volume, `pod mount ${known.state} → NotMounted`);
  }

  markDetached(volume: AttachedVolume): void {
    this.volumes.delete(volume.uniqueName);
    this.changed(volume, 'Volume detached: the kubelet knows it no more');
  }
}

export function deviceMayBeMounted({ device }: AttachedVolume): boolean {
  return device !== 'NotMounted';
}
