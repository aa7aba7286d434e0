import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import type { KubeletConfiguration } from './configuration';
import {
  POD_ATTACH_AND_MOUNT_RETRY_MS,
  POD_ATTACH_AND_MOUNT_TIMEOUT_MS,
  POD_SYNC_BACKOFF_MS,
  POD_SYNC_JITTER,
  POD_TERMINATION_MS,
  VOLUMES_GONE_POLL_MS,
} from './constants';
import type { MountView } from './csi/mount-view';
import type { Events } from './events';
import { ensureKubeletFolder } from './folders';
import type { KubeletPaths } from './names';
import { keyOfObject, type Pod } from './objects';
import { hasMounts } from './orphans';
import type { PodSources } from './pod-sources';
import { pollUntil, Waiting } from './poll';
import type { Seeded } from './seeded';
import type { StatusManager } from './status-manager';
import { prepareSubPath } from './sub-paths';
import type { Timeline } from './timeline/timeline';
import type { ActualStateOfWorld } from './volumemanager/actual-state-of-world';
import type { PodVolumes } from './volumemanager/pod-volumes';
import { csiVolumesOf, type Populator, unusedVolumesOf } from './volumemanager/populator';

/** What a pod worker needs of its kubelet. */
export interface PodWorkerHost {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly isRealTime: boolean;
  readonly api: ApiServer;
  readonly seeded: Seeded;
  readonly timeline: Timeline;
  readonly events: Events;
  readonly paths: KubeletPaths;
  readonly mounts: MountView;
  readonly asw: ActualStateOfWorld;
  readonly populator: Populator;
  readonly volumes: PodVolumes;
  readonly sources: PodSources;
  readonly status: StatusManager;
  readonly configuration: KubeletConfiguration;
  changed(): void;
  watchStats(pod: Pod): void;
  /** Whether the pod was rejected because the node is full. `missing`: what of its volumes is not there, and why. */
  rejects(pod: Pod, missing: string): Promise<boolean>;
}

/** What the kubelet does for one pod, from when it was assigned to the node until it is gone (pkg/kubelet/pod_workers.go). */
export class PodWorker {
  private syncs = 0;
  private readonly began: number;

  constructor(
    private readonly kubelet: PodWorkerHost,
    private readonly pod: Pod,
    private readonly signal: AbortSignal,
  ) {
    this.began = kubelet.clock.now();
  }

  async run(): Promise<void> {
    const { pod, kubelet } = this;
    for (const name of unusedVolumesOf(pod))
      kubelet.timeline.log({
        who: 'kubelet',
        node: kubelet.nodeName,
        about: keyOfObject(pod.meta),
        text: `Skipping unused volume ${name}: no container has it in volumeMounts or volumeDevices`,
      });
    while (!this.isDeleted) {
      if (pod.phase === 'Failed') {
        await this.pause(this.kubelet.configuration.syncMs);
        continue;
      }
      const worked = await this.sync();
      this.syncs += 1;
      if (this.isDeleted) break;
      await this.pause(worked ? this.kubelet.configuration.syncMs : POD_SYNC_BACKOFF_MS);
    }
    await this.terminate();
  }

  /** As far as the kubelet has heard. */
  private get isDeleted(): boolean {
    return this.kubelet.sources.isDeleted(this.pod);
  }

  private poll(
    periodMs: number,
    condition: () => boolean | Promise<boolean>,
    timeoutMs?: number,
  ): Promise<boolean> {
    const { clock, api, isRealTime } = this.kubelet;
    return pollUntil(
      {
        clock,
        periodMs,
        ...(timeoutMs !== undefined && { timeoutMs }),
        signal: this.signal,
        watch: (changed) => api.watch(changed),
        always: isRealTime,
      },
      condition,
    );
  }

  /** Until the next sync, or until somebody deletes the pod. */
  private async pause(ms: number): Promise<void> {
    const { clock, api, seeded } = this.kubelet;
    const { pod, signal, syncs } = this;
    const end = clock.now() + seeded.jittered(ms, POD_SYNC_JITTER, `sync ${pod.meta.uid} ${syncs}`);
    let wake: (() => void) | undefined;
    const unwatch = api.watch(() => {
      if (this.isDeleted) wake?.();
    });
    try {
      await new Waiting(clock, signal).until(end, (stop) => {
        wake = stop;
      });
    } finally {
      unwatch();
    }
  }

  /** @returns whether the pod's volumes are there and its containers run */
  private async sync(): Promise<boolean> {
    const { kubelet, pod } = this;
    const { populator, events, timeline, paths, nodeName } = kubelet;
    ensureKubeletFolder(paths.podVolumes(pod.meta.uid));
    populator.reprocess(pod.meta.uid);
    kubelet.changed();
    let errors: string[] = [];
    const mounted = await this.poll(
      POD_ATTACH_AND_MOUNT_RETRY_MS,
      () => {
        errors = populator.popErrors(pod.meta.uid);
        return errors.length > 0 || this.isDeleted || kubelet.volumes.areMounted(pod);
      },
      POD_ATTACH_AND_MOUNT_TIMEOUT_MS,
    );
    if (this.isDeleted) return false;
    const { unmounted, unattached } = kubelet.volumes.missing(pod);
    // What could not be looked at is no matter while all that the pod has is mounted.
    if ((!mounted || errors.length > 0) && unmounted.length > 0) {
      const failed = populator.failedVolumes(pod);
      const why = errors.length > 0 ? errors.join('; ') : 'context deadline exceeded';
      const text = `unmounted volumes=[${unmounted.join(' ')}], unattached volumes=[${unattached.join(' ')}], failed to process volumes=[${failed.join(' ')}]: ${why}`;
      // A wait that only ran out of time makes no event (since 1.28).
      if (errors.length > 0)
        events.emit(
          { who: 'kubelet', node: nodeName },
          pod,
          'Warning',
          'FailedMount',
          `Unable to attach or mount volumes: ${text}`,
        );
      else
        timeline.log({
          who: 'kubelet',
          node: nodeName,
          about: keyOfObject(pod.meta),
          text: `Unable to attach or mount volumes for pod; skipping pod: ${text}`,
        });
      if (errors.length === 0) await kubelet.rejects(pod, text);
      return false;
    }
    if (!pod.containersRunning) {
      if (!(await this.prepareSubPaths())) return false;
      pod.containersRunning = true;
      kubelet.status.update(pod, () => {
        if (pod.containersRunning) pod.phase = 'Running';
      });
      this.say('pod Running');
      kubelet.changed();
      if (csiVolumesOf(pod).length > 0) kubelet.watchStats(pod);
    }
    return true;
  }

  /** Part of a container's start. @returns whether all of them are there */
  private async prepareSubPaths(): Promise<boolean> {
    const { kubelet, pod } = this;
    for (const mount of pod.containerMounts) {
      if (mount.subPath === undefined) continue;
      const specName = kubelet.volumes.specNameOf(pod, mount.volume);
      if (specName === undefined) continue;
      try {
        await prepareSubPath(kubelet, pod.meta.uid, specName, mount);
      } catch (error) {
        const source = { who: 'kubelet', node: kubelet.nodeName } as const;
        kubelet.events.emit(source, pod, 'Warning', 'Failed', `Error: ${(error as Error).message}`);
        return false;
      }
    }
    return true;
  }

  /** Ends the containers: as long as that takes the pod's volumes are wanted, and mounted if they are not. */
  private async endContainers(): Promise<void> {
    const { kubelet, pod } = this;
    const { clock } = kubelet;
    if (pod.terminated) return;
    // A kubelet that starts later sends SIGTERM anew.
    const began = Math.max(kubelet.sources.deletedAt(pod), this.began);
    await clock.sleep(Math.max(0, began + POD_TERMINATION_MS - clock.now()), this.signal);
    if (pod.containersRunning) {
      pod.containersRunning = false;
      this.say('containers ended');
    }
    pod.terminated = true;
    kubelet.changed();
  }

  /** Waits for the volumes to go, and only then lets the pod go. NodeUnstageVolume is not waited for. */
  private async terminate(): Promise<void> {
    const { kubelet, pod } = this;
    const { api, asw, mounts, paths } = kubelet;
    const { uid } = pod.meta;
    await this.endContainers();
    await this.poll(VOLUMES_GONE_POLL_MS, async () => {
      if (!kubelet.populator.hasAddedPods || asw.all().some(({ pods }) => pods.has(uid))) return false;
      return !(await hasMounts(mounts, paths, uid));
    });
    await kubelet.status.delete(pod, () => {
      this.say('pod removed from the API server');
      api.pods.remove(pod);
    });
  }

  private say(text: string): void {
    const { timeline, nodeName } = this.kubelet;
    timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', about: keyOfObject(this.pod.meta), text });
  }
}
