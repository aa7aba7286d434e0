import { Loop } from '../loop';
import { keyOfObject } from '../objects';
import { type ControllerEnvironment, informersOf } from './controller-environment';
import { isNodeReady } from './node-health';

/** pkg/controller/podgc */
const GC_CHECK_MS = 20_000;

/** Removes pods that are to be deleted from nodes that are out of service: nobody there will say that they are gone. */
export class PodGarbageCollector {
  constructor(private readonly env: ControllerEnvironment) {}

  start(): void {
    const { clock, signal, api } = this.env;
    const informers = informersOf(this.env, 'rehearsal');
    const loop = new Loop({
      clock,
      periodMs: GC_CHECK_MS,
      signal,
      turn: (now) => (informers.areSynced ? this.turn(now) : undefined),
    });
    api.watch(() => loop.poke());
  }

  /** @returns when to look again: a node becomes not ready by nothing that anybody says */
  private turn(now: number): number | undefined {
    const { api, timeline } = this.env;
    let isWaiting = false;
    for (const pod of api.pods.all()) {
      const node = pod.nodeName === undefined ? undefined : api.nodes.get(pod.nodeName);
      if (pod.deletionTimestamp === undefined || node?.outOfService !== true) continue;
      if (isNodeReady(node, now)) {
        isWaiting = true;
        continue;
      }
      const text = `pod removed by the pod garbage collector: its node ${node.meta.name} is out of service`;
      timeline.add({ who: 'rehearsal', kind: 'object', about: keyOfObject(pod.meta), text });
      api.pods.remove(pod);
    }
    return isWaiting ? now : undefined;
  }
}
