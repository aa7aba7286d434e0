import { expandOnNode, nodeExpansionOf } from '../csi/node-expander';
import { stepErrorOf } from '../errors';
import { keyOfObject } from '../objects';
import { loadVolData } from '../vol-data';
import { type AttachedVolume, deviceMayBeMounted, type MountedPod } from './actual-state-of-world';
import type { DesiredStateOfWorld, PodToMount, VolumeToMount } from './desired-state-of-world';
import { mapVolume, unmapVolume, unmapVolumeDevice } from './map-operations';
import {
  mountVolume,
  unmountVolume,
  unmountVolumeDevice,
  verifyControllerAttached,
} from './mount-operations';
import { type OperationEnvironment, prefixed, told } from './operation-errors';
import type { OperationExecutor } from './operation-executor';
import type { Populator } from './populator';
import type { VolumeSpec } from './spec';

export interface ReconcilerOptions {
  readonly env: OperationEnvironment;
  readonly dsw: DesiredStateOfWorld;
  readonly populator: Populator;
  readonly executor: OperationExecutor;
}

/** Makes the actual state of the world the desired one: unmount, then mount, then let go of devices. */
export class Reconciler {
  /** A turn left something undone that only another turn can do: it is not waited for anything. */
  private again = false;

  constructor(private readonly options: ReconcilerOptions) {}

  /** @returns the moment at which it has to look again even if nothing changes */
  turn(now: number): number | undefined {
    const { populator, executor, env } = this.options;
    this.again = false;
    const mayUnmount = this.isReadyToUnmount();
    if (mayUnmount) this.unmountVolumes();
    this.mountVolumes();
    if (mayUnmount) this.letGoOfDevices();
    if (populator.hasAddedPods && !env.api.isDown) this.updateReconstructed();
    return this.again ? now : executor.nextRetry;
  }

  /** Unmounts are held back until the pods and the node's status are known. Mounts are not. */
  private isReadyToUnmount(): boolean {
    const { populator, env } = this.options;
    return populator.hasAddedPods && !env.asw.all().some(({ attachState }) => attachState === 'Uncertain');
  }

  private unmountVolumes(): void {
    const { env, dsw, executor } = this.options;
    for (const volume of env.asw.all())
      for (const mounted of [...volume.pods.values()]) {
        if (executor.isPending(volume.uniqueName, mounted.podUid)) continue;
        if (!dsw.has(volume.uniqueName, mounted.podUid)) this.unmount(volume, mounted);
      }
  }

  private unmount(volume: AttachedVolume, mounted: MountedPod): void {
    const { env, executor } = this.options;
    let data: Record<string, string>;
    try {
      data = isBlock(mounted.spec)
        ? loadVolData(env.paths.blockData(mounted.spec.specName), 'unmapper')
        : loadVolData(env.paths.podVolume(mounted.podUid, mounted.spec.specName), 'unmounter');
    } catch (error) {
      // No operation is begun, so nothing waits: the next turn fails the same way.
      const doing = isBlock(mounted.spec) ? 'UnmapVolume.NewUnmapper' : 'UnmountVolume.NewUnmounter';
      const { specName } = mounted.spec;
      const text = `${doing} failed for volume "${specName}" : ${(error as Error).message}`;
      env.timeline.log({ who: 'kubelet', node: env.nodeName, about: specName, text });
      this.again = true;
      return;
    }
    executor.start({
      name: isBlock(mounted.spec) ? 'unmap_volume' : 'volume_unmount',
      key: { volume: volume.uniqueName, podUid: mounted.podUid },
      about: `${mounted.spec.specName} of ${mounted.podName}`,
      podUid: mounted.podUid,
      run: () => (isBlock(mounted.spec) ? unmapVolume : unmountVolume)(env, volume, mounted, data),
    });
  }

  private mountVolumes(): void {
    const { dsw, env } = this.options;
    for (const wanted of dsw.all()) {
      // What is found to be attached in this turn is mounted in the next.
      const isAttached = env.asw.get(wanted.uniqueName) !== undefined;
      for (const pod of wanted.pods.values())
        if (isAttached) this.mount(wanted, pod);
        else this.verifyAttached(wanted, pod);
    }
  }

  private verifyAttached(wanted: VolumeToMount, pod: PodToMount): void {
    const { env, executor } = this.options;
    if (env.asw.get(wanted.uniqueName)) return;
    executor.attempt({
      name: 'verify_controller_attached_volume',
      key: { volume: wanted.uniqueName, podUid: '' },
      about: `${wanted.spec.specName} for ${keyOfObject(pod.pod.meta)}`,
      podUid: pod.pod.meta.uid,
      run: () => {
        if (verifyControllerAttached(env, pod, wanted.reportedInUse) === undefined) this.again = true;
      },
    });
  }

  private mount(wanted: VolumeToMount, pod: PodToMount): void {
    const { env, executor } = this.options;
    const volume = env.asw.get(wanted.uniqueName);
    if (!volume || executor.isPending(wanted.uniqueName, pod.pod.meta.uid)) return;
    const mounted = volume.pods.get(pod.pod.meta.uid);
    const about = `${wanted.spec.specName} for ${keyOfObject(pod.pod.meta)}`;
    if (mounted?.state !== 'Mounted' || mounted.remountRequired) {
      executor.start({
        name: isBlock(wanted.spec) ? 'map_volume' : 'volume_mount',
        // On the volume as a whole: devices are mounted one at a time.
        key: { volume: wanted.uniqueName, podUid: '' },
        about,
        podUid: pod.pod.meta.uid,
        run: () => (isBlock(wanted.spec) ? mapVolume : mountVolume)(env, volume, pod),
      });
      return;
    }
    this.expand(volume, wanted, pod, about);
  }

  private expand(volume: AttachedVolume, wanted: VolumeToMount, pod: PodToMount, about: string): void {
    const { env, executor } = this.options;
    const { claim: claimKey } = wanted.spec;
    const claim = claimKey === undefined ? undefined : env.api.claims.get(claimKey);
    const pv = claim && env.api.volumeOf(claim);
    if (!claim || !pv || pod.spec.readOnly || volume.expandInUse) return;
    // One that was found on the disk has the size of its claim.
    volume.capacityBytes ??= claim.capacityBytes;
    if ((wanted.capacityBytes ?? 0n) <= (volume.capacityBytes ?? 0n)) return;
    if (nodeExpansionOf(env, claim, pv) === 'not yet') return;
    executor.start({
      name: 'volume_fs_resize',
      key: { volume: wanted.uniqueName, podUid: '' },
      about,
      podUid: pod.pod.meta.uid,
      run: async () => {
        await expandOnNode(env, volume, pod.spec, pod.pod, claim).catch((error) => {
          const doing = 'NodeExpandVolume.NodeExpandVolume failed';
          const failure = prefixed(doing, pod.spec.specName, stepErrorOf(error));
          throw told(env, pod.pod, failure, 'VolumeResizeFailed');
        });
      },
    });
  }

  private letGoOfDevices(): void {
    const { env, dsw, executor } = this.options;
    for (const volume of env.asw.all()) {
      if (volume.pods.size > 0 || dsw.get(volume.uniqueName)) continue;
      if (executor.isPending(volume.uniqueName)) continue;
      if (!deviceMayBeMounted(volume)) {
        env.asw.markDetached(volume);
        continue;
      }
      executor.start({
        name: isBlock(volume.spec) ? 'unmap_device' : 'unmount_device',
        key: { volume: volume.uniqueName, podUid: '' },
        about: volume.spec.specName,
        run: () => (isBlock(volume.spec) ? unmapVolumeDevice : unmountVolumeDevice)(env, volume),
      });
    }
  }

  /** What was found on the disk is matched with node.status.volumesAttached, once the API server answers. */
  private updateReconstructed(): void {
    const { env } = this.options;
    for (const volume of env.asw.all()) {
      if (volume.attachState !== 'Uncertain') continue;
      env.asw.markAttached(volume.spec, volume.isAttachable, volume.capacityBytes);
      this.again = true;
    }
  }
}

function isBlock({ volumeMode }: VolumeSpec): boolean {
  return volumeMode === 'Block';
}
