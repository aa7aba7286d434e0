import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import { keyOfObject, type Pod } from './objects';
import type { Timeline } from './timeline/timeline';

export interface StatusManagerOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly nodeName: string;
  readonly signal: AbortSignal;
}

/** pkg/kubelet/status, syncPeriod: what could not be written is tried again. */
const SYNC_MS = 10_000;

/** What the kubelet has to write about its pods, and keeps until somebody takes it (pkg/kubelet/status). */
export class StatusManager {
  private readonly began: number;

  constructor(private readonly options: StatusManagerOptions) {
    this.began = options.clock.now();
  }

  /** Does `write` now, or when the API server is there again. */
  update(pod: Pod, write: () => void): void {
    this.report(pod, 'update', write).catch((error) => {
      if (!this.options.signal.aborted) throw error;
    });
  }

  /** The same of what is the last that is done for a pod. @throws the signal's reason */
  delete(pod: Pod, write: () => void): Promise<void> {
    return this.report(pod, 'delete', write);
  }

  private async report(pod: Pod, verb: 'update' | 'delete', write: () => void): Promise<void> {
    const { api, clock, timeline, nodeName, signal } = this.options;
    const { name, namespace } = pod.meta;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    for (;;) {
      const failure =
        verb === 'update' ? api.failureOf('Patch', `${path}/status`) : api.failureOf('Delete', path);
      if (failure === undefined) return write();
      const text = `Failed to ${verb} status for pod: ${failure}`;
      timeline.log({ who: 'kubelet', node: nodeName, about: keyOfObject(pod.meta), text });
      await clock.sleep(SYNC_MS - ((clock.now() - this.began) % SYNC_MS), signal);
    }
  }
}
