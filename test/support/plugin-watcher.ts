import * as fs from 'node:fs';
import * as path from 'node:path';
import { connectCsi } from '../../src/csi/client';
import type { PluginInfo__Output } from '../../src/csi/gen/pluginregistration/PluginInfo';
import type { Clock } from '../../src/util/clock';
import { isListening } from '../../src/util/listening';
import { compare, highest } from './kubelet-versions';
import { RegistrationClient } from './registration-client';

const LOOP_MS = 1_000;
const DIAL_MS = 10_000;
const GET_INFO_MS = 1_000;
const NOTIFY_MS = 5_000;
const NODE_INFO_MS = 120_000;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 122_000;

export interface PluginWatcherOptions {
  /** `<kubelet>/plugins_registry`. */
  folder: string;
  clock: Clock;
  /** What differs is whether a registration that failed is tried again by itself (k/k#127108). Default 1.36. */
  version?: '1.36' | '1.32';
  /** Labels of the Node before. */
  labels?: Record<string, string>;
  /** As in the CSIDriver: NodeGetInfo is called again so often (nodeAllocatableUpdatePeriodSeconds). */
  nodeInfoPeriodMs?: number;
}

export interface WatcherEntry {
  /** Milliseconds of its clock. */
  at: number;
  what: 'created' | 'removed' | 'asked' | 'failed' | 'refused' | 'registered' | 'unregistered';
  socket: string;
  why?: string;
}

interface CsiNodeEntry {
  nodeId: string;
  topologyKeys: string[];
  /** Absent: no limit. */
  count?: number;
}

interface Plugin {
  uuid: number;
  name: string;
}

/**
 * The part of a kubelet that finds plugins: watches its folder, asks, validates, calls NodeGetInfo and gives the verdict,
 * with the waits and retries of pkg/kubelet/pluginmanager and pkg/volume/csi. Its time is the clock's; sockets are real.
 */
export class PluginWatcher {
  readonly log: WatcherEntry[] = [];
  /** CSINode.spec.drivers by name. */
  readonly csiNode = new Map<string, CsiNodeEntry>();
  readonly labels: Map<string, string>;
  /** Operations that are under way. */
  inFlight = 0;

  private readonly desired = new Map<string, number>();
  private readonly actual = new Map<string, Plugin>();
  private readonly drivers = new Map<string, { endpoint: string; version: number[] }>();
  private readonly running = new Set<string>();
  private readonly backoffs = new Map<string, { until: number; ms: number }>();
  private readonly polls = new Map<string, AbortController>();
  private readonly ending = new AbortController();
  private watcher: fs.FSWatcher | undefined;
  private lastUuid = 0;

  constructor(private readonly options: PluginWatcherOptions) {
    this.labels = new Map(Object.entries(options.labels ?? {}));
  }

  start(): void {
    const { folder, clock } = this.options;
    fs.mkdirSync(folder, { recursive: true });
    this.watcher = fs.watch(folder, (_event, name) => this.notice(name ?? ''));
    for (const name of fs.readdirSync(folder)) this.notice(name);
    const loop = async (): Promise<void> => {
      for (;;) {
        this.reconcile();
        await clock.sleep(LOOP_MS, this.ending.signal);
      }
    };
    loop().catch(() => undefined);
  }

  stop(): void {
    this.watcher?.close();
    this.ending.abort();
    for (const poll of this.polls.values()) poll.abort();
  }

  has(driver: string): boolean {
    return this.drivers.has(driver);
  }

  /** What it did about one socket, or all, in order: `asked, registered`. */
  told(socket?: string): string {
    return this.log
      .filter((entry) => socket === undefined || path.basename(entry.socket) === socket)
      .map(({ what }) => what)
      .join(', ');
  }

  /** Milliseconds at which it asked. */
  askedAt(): number[] {
    return this.log.filter(({ what }) => what === 'asked').map(({ at }) => at);
  }

  /** The newest reason. */
  get why(): string {
    return this.log.findLast(({ why }) => why !== undefined)?.why ?? '';
  }

  private note(what: WatcherEntry['what'], socket: string, why?: string): void {
    const at = this.options.clock.monotonic();
    this.log.push({ at, what, socket, ...(why !== undefined && { why }) });
  }

  /** Of fsnotify it heeds files that come and go; a rename into the folder is one that comes. */
  private notice(name: string): void {
    if (name === '' || name.startsWith('.')) return;
    const file = path.join(this.options.folder, name);
    const stat = fs.lstatSync(file, { throwIfNoEntry: false });
    if (stat?.isSocket()) {
      this.desired.set(file, ++this.lastUuid);
      this.note('created', file);
    } else if (!stat && this.desired.delete(file)) this.note('removed', file);
  }

  private reconcile(): void {
    for (const [file, { uuid, name }] of this.actual)
      if (this.desired.get(file) !== uuid && !this.running.has(file)) {
        this.actual.delete(file);
        this.forget(name);
        this.note('unregistered', file);
      }
    const now = this.options.clock.monotonic();
    for (const [file, uuid] of this.desired) {
      if (this.actual.has(file) || this.running.has(file)) continue;
      if ((this.backoffs.get(file)?.until ?? 0) > now) continue;
      this.running.add(file);
      this.inFlight += 1;
      void this.register(file, uuid)
        .then(
          () => this.backoffs.delete(file),
          (error: unknown) => this.backOff(file, error),
        )
        .finally(() => {
          this.running.delete(file);
          this.inFlight -= 1;
        });
    }
  }

  /** By the path of the socket: one that is made anew waits as long as the one before. */
  private backOff(file: string, error: unknown): void {
    const before = this.backoffs.get(file)?.ms;
    const ms = before === undefined ? FIRST_BACKOFF_MS : Math.min(before * 2, LONGEST_BACKOFF_MS);
    this.backoffs.set(file, { until: this.options.clock.monotonic() + ms, ms });
    this.note('failed', file, (error as Error).message);
  }

  private async register(file: string, uuid: number): Promise<void> {
    this.note('asked', file);
    const plugin = new RegistrationClient(file);
    try {
      await this.dial(file, plugin);
      const info = await this.within(GET_INFO_MS, 'failed to get plugin info using RPC GetInfo', (signal) =>
        plugin.getInfo(signal),
      );
      const refuse = async (why: string): Promise<never> => {
        this.note('refused', file, why);
        await this.notify(plugin, false, why);
        throw new Error(why);
      };
      if (info.type !== 'CSIPlugin') await refuse(`no handler registered for plugin type: ${info.type}`);
      const wrong = this.validate(info);
      if (wrong !== undefined) await refuse(`plugin validation failed with err: ${wrong}`);
      this.actual.set(file, { uuid, name: info.name });
      const { version = '1.36' } = this.options;
      try {
        await this.install(info, file);
      } catch (error) {
        if (version === '1.36') this.actual.delete(file);
        await refuse(`plugin registration failed with err: ${(error as Error).message}`);
      }
      try {
        await this.notify(plugin, true, '');
      } catch (error) {
        if (version === '1.36') {
          this.actual.delete(file);
          this.forget(info.name);
        }
        throw error;
      }
      this.note('registered', file);
    } finally {
      plugin.close();
    }
  }

  private notify(plugin: RegistrationClient, registered: boolean, error: string): Promise<void> {
    return this.within(NOTIFY_MS, 'failed to send registration status', (signal) =>
      plugin.notify(registered, error, signal),
    );
  }

  private validate({ name, supported_versions }: PluginInfo__Output): string | undefined {
    if (supported_versions.length === 0) return 'the list of supported versions is empty';
    const version = highest(supported_versions);
    if (!version) return `none of the versions specified ${JSON.stringify(supported_versions)} are supported`;
    const known = this.drivers.get(name);
    if (known && compare(known.version, version) >= 0)
      return 'Another driver with the same name is already registered with a higher supported version';
    return undefined;
  }

  /** RegisterPlugin: the driver is known first, and is forgotten again when the rest fails. */
  private async install({ name, endpoint, supported_versions }: PluginInfo__Output, file: string) {
    this.drivers.set(name, {
      endpoint: endpoint || file,
      version: highest(supported_versions) ?? [],
    });
    try {
      await this.readNodeInfo(name, true);
    } catch (error) {
      this.forget(name);
      throw error;
    }
    this.poll(name);
  }

  /** NodeGetInfo, then CSINode and, at registration, the labels of the Node. */
  private async readNodeInfo(name: string, first: boolean): Promise<void> {
    const csi = connectCsi(this.drivers.get(name)?.endpoint ?? '');
    try {
      const info = await this.within(NODE_INFO_MS, 'NodeGetInfo', (signal) =>
        csi.NodeGetInfo({}, { signal }).catch((error: { codeName?: string; message: string }) => {
          throw new Error(`rpc error: code = ${error.codeName} desc = ${error.message}`);
        }),
      );
      if (info.node_id === '') throw new Error('error adding CSI driver node info: driverNodeID is empty');
      const segments = info.accessible_topology?.segments ?? {};
      if (first)
        for (const [key, value] of Object.entries(segments)) {
          const before = this.labels.get(key);
          if (before !== undefined && before !== value)
            throw new Error(
              `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${before}"`,
            );
          this.labels.set(key, value);
        }
      const limit = Number(info.max_volumes_per_node);
      this.csiNode.set(name, {
        nodeId: info.node_id,
        topologyKeys: Object.keys(segments).sort(),
        ...(limit > 0 && { count: Math.min(limit, 2 ** 31 - 1) }),
      });
    } finally {
      csi.close();
    }
  }

  private poll(name: string): void {
    const { nodeInfoPeriodMs, clock } = this.options;
    if (nodeInfoPeriodMs === undefined) return;
    const poll = new AbortController();
    this.polls.set(name, poll);
    const loop = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(nodeInfoPeriodMs, poll.signal);
        this.inFlight += 1;
        await this.readNodeInfo(name, false).finally(() => {
          this.inFlight -= 1;
        });
      }
    };
    loop().catch(() => undefined);
  }

  /** DeRegisterPlugin: the labels of the Node stay. */
  private forget(name: string): void {
    this.polls.get(name)?.abort();
    this.polls.delete(name);
    this.drivers.delete(name);
    this.csiNode.delete(name);
  }

  /** A blocking dial: refused is tried again, and silence is waited for. */
  private dial(file: string, plugin: RegistrationClient): Promise<void> {
    return this.within(DIAL_MS, `failed to dial socket ${file}`, async (signal) => {
      while (!(await isListening(file))) {
        // Nothing is under way then.
        this.inFlight -= 1;
        await this.options.clock.sleep(1_000, signal).finally(() => {
          this.inFlight += 1;
        });
      }
      await plugin.ready();
    });
  }

  private async within<T>(ms: number, what: string, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const patience = new AbortController();
    const late = this.options.clock.sleep(ms, patience.signal).then(
      () => {
        throw new Error(`${what}: context deadline exceeded`);
      },
      () => new Promise<never>(() => undefined),
    );
    const leave = new AbortController();
    try {
      return await Promise.race([act(leave.signal), late]);
    } finally {
      patience.abort();
      leave.abort();
    }
  }
}
