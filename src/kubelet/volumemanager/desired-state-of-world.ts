import type { Pod } from '../objects';
import type { VolumeSpec } from './spec';

export interface PodToMount {
  readonly pod: Pod;
  readonly spec: VolumeSpec;
  /** Names that the pod has for the volume: more than one when it uses a claim twice. */
  readonly outerNames: string[];
}

export interface VolumeToMount {
  readonly uniqueName: string;
  readonly spec: VolumeSpec;
  readonly isAttachable: boolean;
  readonly pods: Map<string, PodToMount>;
  /** The node's status says that the volume is in use: only then may it be attached. */
  reportedInUse: boolean;
  /** Of the PersistentVolume. */
  capacityBytes: bigint | undefined;
}

/** What should be mounted: the volumes of the pods that have been assigned to this node. */
export class DesiredStateOfWorld {
  private readonly volumes = new Map<string, VolumeToMount>();

  /** `knowsEveryName`: of a claim that a pod uses twice; an older kubelet knows the first alone. */
  constructor(private readonly knowsEveryName = true) {}

  addPod(
    pod: Pod,
    spec: VolumeSpec,
    outerName: string,
    isAttachable: boolean,
    capacityBytes: bigint | undefined,
  ): void {
    let volume = this.volumes.get(spec.uniqueName);
    if (!volume) {
      const { uniqueName } = spec;
      volume = { uniqueName, spec, isAttachable, pods: new Map(), reportedInUse: false, capacityBytes };
      this.volumes.set(uniqueName, volume);
    }
    if (capacityBytes !== undefined) volume.capacityBytes = capacityBytes;
    const known = volume.pods.get(pod.meta.uid);
    if (!known) volume.pods.set(pod.meta.uid, { pod, spec, outerNames: [outerName] });
    else if (this.knowsEveryName && !known.outerNames.includes(outerName)) known.outerNames.push(outerName);
  }

  removePod(podUid: string): boolean {
    let removed = false;
    for (const volume of this.volumes.values()) {
      if (!volume.pods.delete(podUid)) continue;
      removed = true;
      if (volume.pods.size === 0) this.volumes.delete(volume.uniqueName);
    }
    return removed;
  }

  get(uniqueName: string): VolumeToMount | undefined {
    return this.volumes.get(uniqueName);
  }

  has(uniqueName: string, podUid: string): boolean {
    return this.volumes.get(uniqueName)?.pods.has(podUid) === true;
  }

  all(): VolumeToMount[] {
    return [...this.volumes.values()];
  }

  podUids(): Set<string> {
    return new Set(this.all().flatMap(({ pods }) => [...pods.keys()]));
  }
}
