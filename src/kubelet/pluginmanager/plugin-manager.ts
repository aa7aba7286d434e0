import type { Clock } from '../../util/clock';
import { PLUGIN_MANAGER_LOOP_MS } from '../constants';
import type { CsiCalls } from '../csi/calls';
import { ExponentialBackoff } from '../exponential-backoff';
import { Loop } from '../loop';
import type { Timeline } from '../timeline/timeline';
import { goDuration } from '../volumemanager/operation-executor';
import type { PluginHandlers } from './plugin-handlers';
import type { PluginSocket, PluginsFolder } from './plugins-folder';
import { type RegisteredPlugin, registerPlugin } from './register-plugin';

export interface PluginManagerOptions {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly nodeName: string;
  readonly signal: AbortSignal;
  readonly folder: PluginsFolder;
  /** On registration sockets. */
  readonly calls: CsiCalls;
  readonly handlers: PluginHandlers;
  /** The kubelet itself tries again to register a plugin that it had added before something failed. */
  readonly retriesRegistration: boolean;
}

/** What is done about one socket's path, and what came of it. */
interface Operation {
  isPending: boolean;
  readonly backoff: ExponentialBackoff;
  failures: number;
  lastError: string;
}

/** A plugin that could not be registered, for a person. */
export interface FailingPlugin {
  readonly path: string;
  readonly failures: number;
  readonly lastError: string;
  readonly isPending: boolean;
  readonly retryAt: number | undefined;
}

/**
 * Makes the plugins that a kubelet knows agree with the sockets in its folder, once a second (pkg/kubelet/pluginmanager).
 * What failed is left alone for a time that counts for the socket's path: one that is made anew waits as long.
 */
export class PluginManager {
  private readonly actual = new Map<string, RegisteredPlugin>();
  private readonly operations = new Map<string, Operation>();
  private loop: Loop | undefined;

  constructor(private readonly options: PluginManagerOptions) {
    void this.start();
  }

  private async start(): Promise<void> {
    const { clock, signal, folder } = this.options;
    const unwatch = folder.watch(() => this.loop?.poke());
    signal.addEventListener('abort', unwatch, { once: true });
    try {
      await clock.sleep(PLUGIN_MANAGER_LOOP_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.loop = new Loop({
      clock,
      periodMs: PLUGIN_MANAGER_LOOP_MS,
      signal,
      turn: () => this.reconcile(),
    });
  }

  /** Of sockets that are there. */
  failing(): FailingPlugin[] {
    return this.options.folder.sockets().flatMap(({ path }) => {
      const operation = this.operations.get(path);
      if (!operation || operation.failures === 0) return [];
      const { failures, lastError, isPending, backoff } = operation;
      return { path, failures, lastError, isPending, retryAt: backoff.retryAt };
    });
  }

  /** @returns when it has to look again whatever happens */
  private reconcile(): number | undefined {
    const { folder } = this.options;
    const desired = new Map(folder.sockets().map((socket) => [socket.path, socket]));
    const moments: (number | undefined)[] = [];
    for (const plugin of [...this.actual.values()]) {
      const { path, made } = plugin.socket;
      if (desired.get(path)?.made === made) continue;
      const unregister = async () => {
        this.remove(plugin);
        plugin.handler.deregisterPlugin(plugin.name);
      };
      moments.push(this.run(path, unregister));
    }
    for (const socket of desired.values())
      if (this.actual.get(socket.path)?.socket.made !== socket.made)
        moments.push(this.run(socket.path, () => this.register(socket)));
    const next = Math.min(...moments.map((moment) => moment ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(next) ? next + 1 : undefined;
  }

  private register(socket: PluginSocket): Promise<void> {
    const { retriesRegistration } = this.options;
    return registerPlugin(
      {
        ...this.options,
        forgetsFailed: retriesRegistration,
        add: (plugin) => this.actual.set(plugin.socket.path, plugin),
        remove: (plugin) => this.remove(plugin),
      },
      socket,
    );
  }

  private remove({ socket }: RegisteredPlugin): void {
    this.actual.delete(socket.path);
  }

  /**
   * One at a time for a path, and not while it has to wait after a failure (pkg/util/goroutinemap).
   * @returns until when it has to wait
   */
  private run(path: string, work: () => Promise<void>): number | undefined {
    const operation = this.operations.get(path) ?? {
      isPending: false,
      backoff: new ExponentialBackoff(),
      failures: 0,
      lastError: '',
    };
    if (operation.isPending) return undefined;
    if (!operation.backoff.isSafeToRetry(this.options.clock.now())) return operation.backoff.retryAt;
    operation.isPending = true;
    this.operations.set(path, operation);
    work().then(
      () => this.ended(path),
      (error: unknown) => this.failed(path, operation, error),
    );
    return undefined;
  }

  private ended(path: string): void {
    this.operations.delete(path);
    this.loop?.poke();
  }

  private failed(path: string, operation: Operation, error: unknown): void {
    const { clock, timeline, nodeName, signal } = this.options;
    if (signal.aborted) return;
    const waitMs = operation.backoff.failed(clock.now());
    operation.isPending = false;
    operation.failures += 1;
    operation.lastError = error instanceof Error ? error.message : String(error);
    const until = `+${((timeline.elapsed + waitMs) / 1_000).toFixed(1)}s`;
    timeline.add({
      who: 'kubelet',
      node: nodeName,
      kind: 'backoff',
      text: `Operation for "${path}" failed (try ${operation.failures}). No retries permitted until ${until} (durationBeforeRetry ${goDuration(waitMs)}). Error: ${operation.lastError}`,
    });
    this.loop?.poke();
  }
}
