import type { CsiClient } from '../../csi/client';
import { Code, CsiError } from '../../csi/status';
import type { Clock } from '../../util/clock';
import type { ApiServer } from '../api-server';
import { CsiCalls } from '../csi/calls';
import type { Events } from '../events';
import { Informers } from '../informers';
import { Loop } from '../loop';
import type { SecretReference } from '../objects';
import type { Seeded } from '../seeded';
import type { Component, Timeline } from '../timeline/timeline';
import type { KubeletVersion } from '../versions';
import { WorkQueue } from './work-queue';

export interface ControllerEnvironment {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly events: Events;
  readonly seeded: Seeded;
  readonly signal: AbortSignal;
  /** Whose words the control plane has, where they differ. */
  readonly version: KubeletVersion;
  /** To the controller plugin. */
  connect(): CsiClient;
  /** Of the plugin that the sidecars stand beside; undefined until somebody has asked it. */
  driverName(): string | undefined;
}

/** How soon a sidecar hears of a change. */
const INFORMER_MS = 10;

/** Controllers of one process have their watches together. */
export function informersOf(
  { api, clock, seeded, signal }: ControllerEnvironment,
  who: Component,
): Informers {
  const isManager =
    who === 'attachdetach-controller' || who === 'persistentvolume-controller' || who === 'rehearsal';
  return new Informers({ api, clock, seeded, signal, name: isManager ? 'kube-controller-manager' : who });
}

/**
 * What every sidecar is made of: calls of its own, retries, and a look at the API server whenever that changed. It stands
 * still while nobody answers there, and goes on when its watches do.
 */
export abstract class Sidecar {
  protected readonly calls: CsiCalls;
  readonly queue: WorkQueue;

  constructor(
    protected readonly env: ControllerEnvironment,
    readonly who: Component,
  ) {
    const { clock, timeline, signal, api, connect } = env;
    this.calls = new CsiCalls({ clock, timeline, who, signal, connect });
    this.queue = new WorkQueue({ clock, signal, changed: () => api.changed() });
  }

  start(): void {
    const { clock, signal, api } = this.env;
    const informers = informersOf(this.env, this.who);
    const turn = () => {
      if (informers.areSynced) this.turn();
      return undefined;
    };
    const loop = new Loop({ clock, periodMs: INFORMER_MS, signal, turn });
    api.watch(() => loop.poke());
  }

  protected abstract turn(): void;

  /** @throws Error when it is not there */
  protected secret(reference: SecretReference | undefined): Record<string, string> {
    if (!reference) return {};
    const { namespace, name } = reference;
    const secret = this.env.api.secrets.get(`${namespace}/${name}`);
    if (secret) return { ...secret.data };
    throw new Error(`error getting secret ${name} in namespace ${namespace}: secrets "${name}" not found`);
  }

  private capabilities: ReadonlySet<number> | undefined;

  /** Asked once, at the first need. @throws CsiError */
  protected async controllerHas(type: number, timeoutMs: number): Promise<boolean> {
    this.capabilities ??= await this.controllerCapabilities(timeoutMs);
    return this.capabilities.has(type);
  }

  private async controllerCapabilities(timeoutMs: number): Promise<ReadonlySet<number>> {
    try {
      const context = this.calls.context(timeoutMs);
      const { capabilities } = await this.calls.call('ControllerGetCapabilities', {}, context);
      return new Set(capabilities.flatMap(({ rpc }) => rpc?.type ?? []));
    } catch (error) {
      const isUnknown = error instanceof CsiError && error.code === Code.UNIMPLEMENTED;
      if (isUnknown && !(await this.servesController(timeoutMs))) return new Set();
      throw error;
    }
  }

  /** A plugin without a Controller service has nothing to be called for: sidecars do their part without it. */
  private async servesController(timeoutMs: number): Promise<boolean> {
    const context = this.calls.context(timeoutMs);
    const { capabilities } = await this.calls.call('GetPluginCapabilities', {}, context);
    return capabilities.some(({ service }) => service?.type === CONTROLLER_SERVICE);
  }
}

/** csi.v1 PluginCapability.Service.Type. */
const CONTROLLER_SERVICE = 1;

/** Numbers of csi.v1 ControllerServiceCapability.RPC.Type. */
export const CONTROLLER = { PUBLISH_UNPUBLISH_VOLUME: 2, EXPAND_VOLUME: 9 } as const;
