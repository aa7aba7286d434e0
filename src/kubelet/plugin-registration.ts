import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import { setLimit } from './attach-limit';
import { CSI_TIMEOUT_MS, PLUGIN_MANAGER_LOOP_MS } from './constants';
import type { CsiCalls } from './csi/calls';
import { rpcErrorText } from './errors';
import { ExponentialBackoff } from './exponential-backoff';
import type { NodeObject } from './objects';
import type { Timeline } from './timeline/timeline';
import type { Behaviour } from './versions';

export interface RegistrationOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly nodeName: string;
  readonly behaviour: Behaviour;
  readonly signal: AbortSignal;
  /** Of node-driver-registrar and of the kubelet. */
  readonly registrar: CsiCalls;
  readonly kubelet: CsiCalls;
  /** It has worked. */
  registered(drivers: readonly string[]): void;
}

const REGISTRAR_TIMEOUT_MS = 1_000;
/** A container that ends is started again after 10 s, then after twice as long, at most after 5 min. */
const CONTAINER_RESTART_MS = 10_000;
const CONTAINER_RESTART_MAX_MS = 300_000;

/** How the kubelet comes to know a driver: node-driver-registrar names it, and NodeGetInfo says who the node is to it. */
export class PluginRegistration {
  private readonly drivers = new Set<string>();

  constructor(private readonly options: RegistrationOptions) {}

  isRegistered(driver: string): boolean {
    return this.drivers.has(driver);
  }

  get names(): readonly string[] {
    return [...this.drivers];
  }

  /** The socket is gone: out of the map and of CSINode. Topology labels stay on the node. */
  unregister(): void {
    const { api, nodeName, timeline } = this.options;
    const node = api.nodes.get(nodeName);
    for (const name of this.drivers) {
      node?.csiDrivers.delete(name);
      const text = `CSINode ${nodeName}: driver ${name} removed`;
      timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', text });
    }
    this.drivers.clear();
    api.changed();
  }

  /** Until it has worked, or the kubelet ends. */
  async run(): Promise<void> {
    const { clock, signal, behaviour } = this.options;
    const backoff = new ExponentialBackoff();
    let restartMs = CONTAINER_RESTART_MS;
    // The plugin manager looks at its folder once a second.
    await clock.sleep(PLUGIN_MANAGER_LOOP_MS, signal);
    for (;;) {
      const failure = await this.register();
      if (failure === undefined) return this.options.registered([...this.drivers]);
      let waitMs = backoff.failed(clock.now());
      if (!behaviour.retriesRegistration || failure.by === 'registrar') {
        // NotifyRegistrationStatus(false) ends the registrar; its new socket is the new try.
        waitMs = restartMs;
        restartMs = Math.min(CONTAINER_RESTART_MAX_MS, restartMs * 2);
      }
      await clock.sleep(waitMs, signal);
    }
  }

  private async register(): Promise<{ by: 'registrar' | 'kubelet' } | undefined> {
    const { registrar, kubelet, api, nodeName, timeline, signal } = this.options;
    const node = api.nodes.get(nodeName);
    if (!node) return { by: 'kubelet' };
    let name: string;
    try {
      ({ name } = await registrar.call('GetPluginInfo', {}, registrar.context(REGISTRAR_TIMEOUT_MS)));
    } catch (error) {
      signal.throwIfAborted();
      this.say('node-driver-registrar', `error retrieving CSI driver name: ${rpcErrorText(error)}; it exits`);
      return { by: 'registrar' };
    }
    try {
      this.drivers.add(name);
      const info = await kubelet.call('NodeGetInfo', {}, kubelet.context(CSI_TIMEOUT_MS));
      const { node_id: nodeId, accessible_topology: topology } = info;
      if (nodeId === '') throw new Error('error adding CSI driver node info: driverNodeID must not be empty');
      label(node, topology?.segments ?? {});
      node.csiDrivers.set(name, nodeId);
      node.topologyKeys.set(name, Object.keys(topology?.segments ?? {}).sort());
      setLimit(node, name, info.max_volumes_per_node);
      timeline.add({
        who: 'kubelet',
        node: nodeName,
        kind: 'object',
        text: `CSINode ${nodeName}: driver ${name} registered as node ${nodeId}`,
      });
      api.changed();
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      // Out of the map and of CSINode again.
      this.drivers.delete(name);
      node.csiDrivers.delete(name);
      api.changed();
      this.say(
        'kubelet',
        `RegisterPlugin error -- plugin registration failed with err: ${rpcErrorText(error)}`,
      );
      return { by: 'kubelet' };
    }
  }

  private say(who: 'kubelet' | 'node-driver-registrar', text: string): void {
    this.options.timeline.log({ who, node: this.options.nodeName, text });
  }
}

/** nodeinfomanager: a label that is there with another value is never overwritten. @throws Error */
function label(node: NodeObject, segments: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(segments)) {
    const existing = node.labels.get(key);
    if (existing !== undefined && existing !== value)
      throw new Error(
        `error adding CSI driver node info: detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${existing}"`,
      );
  }
  for (const [key, value] of Object.entries(segments)) node.labels.set(key, value);
}
