import type { ApiServer } from '../api-server';
import { notTheOwner } from '../controllers/ephemeral-volume-controller';
import type { Pod, PodVolume } from '../objects';
import type { ActualStateOfWorld } from './actual-state-of-world';
import type { DesiredStateOfWorld } from './desired-state-of-world';
import { inlineSpec, isAttachable, persistentSpec, type VolumeSpec } from './spec';

export interface PopulatorOptions {
  readonly api: ApiServer;
  /** Of this node, as far as they are known. */
  pods(): readonly Pod[];
  /** Whether they are all of them: the API server has told once. */
  areSourcesReady(): boolean;
  readonly dsw: DesiredStateOfWorld;
  readonly asw: ActualStateOfWorld;
  /** ShouldPodRuntimeBeRemoved: no container of the pod runs, or will. Until then its volumes stay wanted. */
  isTerminated(podUid: string): boolean;
}

/** desiredStateOfWorldPopulator: the volumes that the pods of this node want, from the API server. */
export class Populator {
  private readonly processed = new Set<string>();
  /** Those that a pod worker has asked for. */
  private readonly seen = new Set<string>();
  private readonly errors = new Map<string, string[]>();
  /** Every pod that was there at start has been looked at: only then may volumes be unmounted. */
  hasAddedPods = false;

  constructor(private readonly options: PopulatorOptions) {}

  /** The pod is looked at again in the next turn: its claims may have changed. */
  reprocess(podUid: string): void {
    this.seen.add(podUid);
    this.processed.delete(podUid);
  }

  isProcessed(podUid: string): boolean {
    return this.processed.has(podUid);
  }

  /** What went wrong since the last look, and is told once. */
  popErrors(podUid: string): string[] {
    const errors = this.errors.get(podUid) ?? [];
    this.errors.delete(podUid);
    return errors;
  }

  /** Names of the pod's volumes that never could be looked at. */
  failedVolumes(pod: Pod): string[] {
    const known = this.options.dsw.all().flatMap(({ pods }) => pods.get(pod.meta.uid)?.outerNames ?? []);
    return csiVolumesOf(pod)
      .filter((volume) => !known.includes(volume))
      .sort();
  }

  /** @returns whether anything changed */
  turn(): boolean {
    const { dsw } = this.options;
    let changed = false;
    for (const pod of this.options.pods())
      if (!this.processed.has(pod.meta.uid) && this.mayAdd(pod)) changed = this.add(pod) || changed;
    this.hasAddedPods ||= this.options.areSourcesReady();
    for (const uid of dsw.podUids()) {
      if (!this.options.isTerminated(uid)) continue;
      changed = dsw.removePod(uid) || changed;
      this.processed.delete(uid);
      this.errors.delete(uid);
    }
    return changed;
  }

  /** A pod that ends wants no more volumes; but of one that was there at start the containers may still use theirs. */
  private mayAdd(pod: Pod): boolean {
    if (this.options.isTerminated(pod.meta.uid)) return false;
    return pod.deletionTimestamp === undefined || !this.hasAddedPods;
  }

  private add(pod: Pod): boolean {
    const { api, dsw, asw } = this.options;
    const { uid } = pod.meta;
    const errors: string[] = [];
    for (const name of csiVolumesOf(pod)) {
      const spec = this.specOf(pod, name);
      if (typeof spec === 'string') {
        errors.push(spec);
        continue;
      }
      const claim = spec.claim === undefined ? undefined : api.claims.get(spec.claim);
      // What is only read grows by nobody's doing here.
      const capacity = claim && !spec.readOnly ? api.volumeOf(claim)?.capacityBytes : undefined;
      dsw.addPod(pod, spec, name, isAttachable(api, spec), capacity);
    }
    if (errors.length > 0) {
      const isNew = !this.errors.has(uid);
      this.errors.set(uid, errors);
      // It is looked at again with the next sync of its pod, not with each turn.
      if (this.seen.has(uid)) this.processed.add(uid);
      return isNew;
    }
    this.errors.delete(uid);
    this.processed.add(uid);
    for (const volume of asw.all()) {
      const mounted = volume.pods.get(uid);
      if (mounted && api.csiDrivers.get(volume.spec.driver)?.requiresRepublish)
        mounted.remountRequired = true;
    }
    return true;
  }

  /** @returns why not, in the kubelet's words */
  private specOf(pod: Pod, name: string): VolumeSpec | string {
    const { api } = this.options;
    const volume = pod.volumes.find((candidate) => candidate.name === name);
    if (volume?.csi) return inlineSpec(pod, name, volume.csi);
    const { claimName = '', readOnly = false } = volume?.claim ?? {};
    const subject = `error processing PVC ${pod.meta.namespace}/${claimName}`;
    // Each time anew, and from no cache: where nobody answers a pod that runs has no repeated publish either.
    const path = `/api/v1/namespaces/${pod.meta.namespace}/persistentvolumeclaims/${claimName}`;
    const failure = api.failureOf('Get', path);
    const claim = api.claimOf(pod, claimName);
    if (!claim || failure !== undefined)
      return `${subject}: failed to fetch PVC from API server: ${failure ?? `persistentvolumeclaims "${claimName}" not found`}`;
    const pv = api.volumeOf(claim);
    // One that is being deleted will do: kubernetes.io/pvc-protection keeps it as long as a pod is there that names it.
    if (claim.phase !== 'Bound' || !pv) return `${subject}: PVC is not bound`;
    const conflict = volume?.template && notTheOwner(pod, claim);
    if (conflict !== undefined) return conflict;
    const isMounted = pod.containerMounts.some((mount) => mount.volume === name);
    if (pv.volumeMode === 'Block' && isMounted)
      return `volume ${name} has volumeMode Block, but is specified in volumeMounts`;
    if (pv.volumeMode === 'Filesystem' && pod.devices.has(name))
      return `volume ${name} has volumeMode Filesystem, but is specified in volumeDevices`;
    return persistentSpec(pv, readOnly);
  }
}

/** Names of the volumes that a CSI driver serves and a container uses: the kubelet looks at no others. */
export function csiVolumesOf(pod: Pod): string[] {
  return pod.volumes.filter((volume) => isOfCsi(volume) && isUsed(pod, volume)).map(({ name }) => name);
}

/** Those that no container mounts or has as a device. Attached they are all the same. */
export function unusedVolumesOf(pod: Pod): string[] {
  return pod.volumes.filter((volume) => isOfCsi(volume) && !isUsed(pod, volume)).map(({ name }) => name);
}

function isOfCsi({ claim, csi }: PodVolume): boolean {
  return (claim ?? csi) !== undefined;
}

function isUsed({ containerMounts, devices }: Pod, { name }: PodVolume): boolean {
  return devices.has(name) || containerMounts.some(({ volume }) => volume === name);
}
