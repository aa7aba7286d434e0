import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import { Informers } from './informers';
import type { Pod } from './objects';
import { pollUntil } from './poll';
import type { Seeded } from './seeded';
import type { Timeline } from './timeline/timeline';

export interface PodSourcesOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly seeded: Seeded;
  readonly timeline: Timeline;
  readonly nodeName: string;
  readonly signal: AbortSignal;
}

/** pkg/kubelet/config/apiserver.go, WaitForAPIServerSyncPeriod. */
const NODE_SYNC_POLL_MS = 1_000;

/**
 * The pods of a node, as its kubelet has heard of them (pkg/kubelet/config). One that starts while the API server is down
 * knows none, and not even that there are none: its sources are not ready.
 */
export class PodSources {
  private readonly informers: Informers;
  private known: readonly Pod[] = [];
  private ready: boolean;

  constructor(private readonly options: PodSourcesOptions) {
    const { api, nodeName } = options;
    this.informers = new Informers({ ...options, name: `kubelet ${nodeName}` });
    this.ready = !api.isDown;
  }

  /** Every pod was heard of once. */
  get areReady(): boolean {
    return this.ready;
  }

  /** Pods that are assigned to the node. */
  pods(): readonly Pod[] {
    const { api, nodeName } = this.options;
    if (this.ready && this.informers.areSynced)
      this.known = api.pods.all().filter((pod) => pod.nodeName === nodeName);
    return this.known;
  }

  /** Whether the kubelet has heard that the pod is to go. */
  isDeleted(pod: Pod): boolean {
    return pod.deletionTimestamp !== undefined && this.informers.haveHeardOf(pod.deletionTimestamp);
  }

  /** When it has heard of it at the earliest. */
  deletedAt({ deletionTimestamp }: Pod): number {
    return Math.max(deletionTimestamp ?? 0, this.informers.syncedAt);
  }

  /** Until the sources are ready. @throws the signal's reason */
  async wait(): Promise<void> {
    if (this.ready) return;
    const { api, clock, signal, timeline, nodeName } = this.options;
    const say = (text: string) => timeline.log({ who: 'kubelet', node: nodeName, text });
    say('Waiting for node sync before watching apiserver pods');
    // CSINode is made first of all, and waited for as long as it takes: until then the node is not ready.
    const failure = api.failureOf('Get', `/apis/storage.k8s.io/v1/csinodes/${nodeName}?resourceVersion=0`);
    say(`Failed to contact API server when waiting for CSINode publishing: ${failure}`);
    await pollUntil(
      {
        clock,
        periodMs: NODE_SYNC_POLL_MS,
        signal,
        watch: (changed) => api.watch(changed),
        always: false,
      },
      () => this.informers.areSynced,
    );
    this.ready = true;
    say('Watching apiserver: the sources of pods are ready');
    api.changed();
  }
}
