import { Code, CsiError } from '../../csi/status';
import type { Clock } from '../../util/clock';
import type { CsiCalls } from '../csi/calls';
import { rpcErrorText } from '../errors';
import type { Timeline } from '../timeline/timeline';
import type { PluginsFolder, RegistrationClient } from './plugins-folder';

export interface RegistrarOptions {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly nodeName: string;
  /** The kubelet's. */
  readonly rootDir: string;
  readonly folder: PluginsFolder;
  readonly calls: CsiCalls;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 1_000;
/** A container that ends is started again after 10 s, then after twice as long, at most after 5 min. */
const CONTAINER_RESTART_MS = 10_000;
const CONTAINER_RESTART_MAX_MS = 300_000;
/** What it says of every driver. */
const PLUGIN_TYPE = 'CSIPlugin';
const SUPPORTED_VERSIONS = ['1.0.0'];

/** The sidecar that registers a driver which does not do it itself (kubernetes-csi/node-driver-registrar). */
export class NodeDriverRegistrar {
  constructor(private readonly options: RegistrarOptions) {}

  /** Until the signal. */
  async run(): Promise<void> {
    const { clock, signal } = this.options;
    for (
      let restartMs = CONTAINER_RESTART_MS;
      ;
      restartMs = Math.min(CONTAINER_RESTART_MAX_MS, restartMs * 2)
    ) {
      await this.live();
      await clock.sleep(restartMs, signal);
    }
  }

  /** One process: asks the driver for its name, offers it to the kubelet, and ends when that is refused. */
  private async live(): Promise<void> {
    const { calls, timeline, nodeName, signal, folder, rootDir } = this.options;
    const said = (text: string) => timeline.log({ who: 'node-driver-registrar', node: nodeName, text });
    let name: string;
    try {
      ({ name } = await calls.call('GetPluginInfo', {}, calls.context(TIMEOUT_MS)));
    } catch (error) {
      signal.throwIfAborted();
      return said(`error retrieving CSI driver name: ${rpcErrorText(error)}; it exits`);
    }
    const socket = `${rootDir}/plugins_registry/${name}-reg.sock`;
    const endpoint = `${rootDir}/plugins/${name}/csi.sock`;
    const refusal = await new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const client: RegistrationClient = {
        GetInfo: async () => ({
          type: PLUGIN_TYPE,
          name,
          endpoint,
          supported_versions: [...SUPPORTED_VERSIONS],
        }),
        NotifyRegistrationStatus: async ({ plugin_registered, error } = {}) => {
          if (plugin_registered) return {};
          resolve(error ?? '');
          throw new CsiError(Code.UNAVAILABLE, 'error reading from server: EOF');
        },
        close: () => undefined,
      };
      folder.put(socket, 'serving', () => client);
    });
    // It exits without a word to its socket's file.
    folder.abandon(socket);
    said(`Registration process failed with error: ${refusal}, restarting registration container.`);
  }
}
