import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createMemoryHost } from '../../src/host/memory';
import type { JournalEntry } from '../../src/journal/entry';
import { VirtualClock } from '../../src/util/virtual-clock';
import { TestDriver, type TestDriverOptions } from './driver';
import { PluginWatcher, type PluginWatcherOptions } from './plugin-watcher';
import { RegistrationClient } from './registration-client';
import { scenarioText } from './scenario-driver';

/** Real I/O on sockets of this process takes far less; what takes longer waits for time to pass. */
const STUCK_MS = 150;

export interface StageOptions {
  /** `spec` of a scenario of the name `test`, or the path of a file. */
  spec?: string;
  file?: string;
  driver?: Partial<TestDriverOptions>;
  kubelet?: Partial<PluginWatcherOptions>;
  /** The folder of a kubelet that has a driver already. */
  root?: string;
}

/** A driver that registers itself and what a kubelet does about it, under one clock that only the test moves. */
export class RegisteredDriver {
  readonly clock = new VirtualClock();
  readonly kubelet: PluginWatcher;

  private constructor(
    readonly root: string,
    private readonly options: StageOptions,
  ) {
    this.kubelet = new PluginWatcher({ folder: this.registry, clock: this.clock, ...options.kubelet });
  }

  private running: TestDriver | undefined;

  static async start(options: StageOptions = {}): Promise<RegisteredDriver> {
    // Short on purpose: a socket's path has 107 bytes.
    const root = options.root ?? (await fs.mkdtemp(path.join(tmpdir(), 'fk-')));
    await fs.mkdir(path.join(root, 'plugins_registry'), { recursive: true });
    const stage = new RegisteredDriver(root, options);
    if (options.root === undefined) stage.kubelet.start();
    await stage.startDriver(options.root === undefined ? 'data' : 'data-2');
    return stage;
  }

  get registry(): string {
    return path.join(this.root, 'plugins_registry');
  }

  get driver(): TestDriver {
    if (!this.running) throw new Error('the driver has not been started');
    return this.running;
  }

  async startDriver(data = 'data'): Promise<void> {
    const { spec, file } = this.options;
    const dataDir = path.join(this.root, data);
    const written = path.join(this.root, 'scenario.yaml');
    if (spec !== undefined) await fs.writeFile(written, scenarioText('test', spec));
    const scenarios = spec !== undefined ? [written] : file !== undefined ? [file] : [];
    this.running = await TestDriver.start({
      root: this.root,
      backend: 'memory',
      host: createMemoryHost(),
      clock: this.clock,
      dataDir,
      scenarios,
      kubelet: { dir: this.root, register: true },
      ...this.options.driver,
    });
  }

  async close(): Promise<void> {
    this.kubelet.stop();
    await this.running?.close();
    await fs.rm(this.root, { recursive: true, force: true });
  }

  /** Names in plugins_registry, those that a kubelet does not look at included. */
  files(): Promise<string[]> {
    return fs.readdir(this.registry);
  }

  events(name: string): Record<string, unknown>[] {
    return this.driver.driver.journal
      .entries()
      .filter((entry) => entry.type === 'event' && entry.event === name)
      .map((entry) => (entry as Extract<JournalEntry, { type: 'event' }>).details as Record<string, unknown>);
  }

  /** A call on the registration socket by hand. */
  async ask(method: 'GetInfo' | 'NotifyRegistrationStatus', request: object = {}): Promise<object> {
    const client = new RegistrationClient(path.join(this.registry, 'fake.csi.test-reg.sock'));
    try {
      return await client.call(method, request, new AbortController().signal);
    } finally {
      client.close();
    }
  }

  /** Lets virtual time pass, but not while anything is under way that takes real time. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    for (;;) {
      await this.settle();
      const next = this.clock.untilNext;
      if (next === undefined || this.clock.monotonic() + next > end) break;
      await this.clock.advance(next);
    }
    await this.clock.advance(end - this.clock.monotonic());
    await this.settle();
  }

  /** Length of the kubelet's log when it last came to wait for something that does not come. */
  private stuckAt: number | undefined;

  private async settle(): Promise<void> {
    const { engine, registration } = this.driver.driver;
    let quiet = 0;
    let seen = this.kubelet.log.length;
    let since = performance.now();
    while (quiet < 8) {
      await registration?.settled();
      await new Promise((resolve) => setImmediate(resolve));
      if (this.kubelet.log.length !== seen) {
        seen = this.kubelet.log.length;
        since = performance.now();
      }
      if (this.kubelet.inFlight > 0 && performance.now() - since > STUCK_MS) this.stuckAt = seen;
      const waits = this.kubelet.inFlight === 0 || engine.held.size > 0 || this.stuckAt === seen;
      quiet = waits ? quiet + 1 : 0;
    }
  }
}
