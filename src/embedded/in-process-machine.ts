import { createHash } from 'node:crypto';
import * as path from 'node:path';
import type { CsiClient } from '../csi/client';
import type { RegistrationDefinition } from '../csi/gen/pluginregistration/Registration';
import type { CsiDefinitions } from '../csi/load';
import { createMemoryHost, type MemoryControl } from '../host/memory';
import { type CallServer, InProcessConnections } from '../kubelet/in-process-client';
import type { NodeMachine } from '../kubelet/machine';
import { PluginsFolder } from '../kubelet/pluginmanager/plugins-folder';
import { DEFAULT_DRIVER_NAME } from '../server/defaults';
import { Driver, type DriverOptions } from '../server/driver';
import type { UnaryMethod } from '../services/index';
import type { Turns } from '../util/turns';
import type { VirtualClock } from '../util/virtual-clock';
import { driverOptions, type EmbeddedDriverOptions } from './driver-options';
import { FolderSockets } from './folder-sockets';
import { hostMountView } from './host-mount-view';
import { Life } from './life';
import { type TrackedHost, trackedHost } from './tracked-host';

export interface InProcessMachineOptions {
  readonly nodeName: string;
  readonly clock: VirtualClock;
  readonly turns: Turns;
  readonly definitions: CsiDefinitions;
  readonly registration: RegistrationDefinition;
  readonly dataDir: string;
  readonly socket: string;
  /** The node's plugins_registry; undefined: no kubelet is to know of this driver. */
  readonly registry: string | undefined;
  readonly seed: number;
  /** Scenario files for this driver. */
  readonly scenarios: readonly string[];
  readonly start: EmbeddedDriverOptions;
  /** A rule ended the process, or it came back. */
  said(text: string): void;
}

/** A container that ends is started again at once the first time; a second passes until it listens. */
const CONTAINER_START_MS = 1_000;

/** A driver on a model of a machine, both in this process and under virtual time. */
export class InProcessMachine {
  private kernel: TrackedHost;
  private boots = 0;
  private living: { driver: Driver; life: Life } | undefined;
  private readonly connections: InProcessConnections;
  private readonly plugins = new PluginsFolder();

  constructor(private readonly options: InProcessMachineOptions) {
    this.kernel = this.boot();
    this.connections = new InProcessConnections(options);
  }

  /** A machine that has just started: nothing is mounted. */
  private boot(): TrackedHost {
    const { seed, nodeName, turns } = this.options;
    this.boots += 1;
    let drawn = 0;
    const randomBytes = (size: number) => {
      drawn += 1;
      const hash = createHash('shake256', { outputLength: size });
      return hash.update(`${seed} ${nodeName} ${this.boots} ${drawn}`).digest();
    };
    return trackedHost(createMemoryHost({ randomBytes }), turns);
  }

  async startDriver(): Promise<void> {
    if (this.living) return;
    await this.options.turns.run(() => this.start());
  }

  private async start(): Promise<void> {
    const { clock, turns, definitions, dataDir, socket, scenarios, start, nodeName } = this.options;
    const life = new Life(turns.clock(clock), () => this.died(), clock);
    const registration = this.registration();
    const { driver } = await Driver.start({
      ...driverOptions(
        { ...start, nodeId: nodeName },
        { dataDir, socket, host: this.kernel.host, clock, definitions },
      ),
      // Whichever process it is, it speaks for the whole plugin.
      advertise: 'all',
      clock: life.clock,
      timers: life.timers,
      scenarios,
      // A rule that acts by time has no turn.
      processControl: (hooks) => life.processControl({ ...hooks, save: () => turns.track(hooks.save()) }),
      aroundGate: life.aroundGate,
      ...(registration && { registration }),
    });
    this.living = { driver, life };
    const { pipeline } = driver;
    const server: CallServer = (method, request, incoming) =>
      pipeline.unary(method as UnaryMethod, request as never, incoming) as never;
    this.connections.serve(server);
  }

  private get driverName(): string {
    return this.options.start.driverName ?? DEFAULT_DRIVER_NAME;
  }

  /** As with `serve --register`: the driver itself puts its sockets where the kubelet looks. */
  private registration(): DriverOptions['registration'] {
    const { registry, socket } = this.options;
    if (registry === undefined) return undefined;
    const place = {
      socket: { file: path.join(registry, `${this.driverName}-reg.sock`) },
      second: { file: path.join(registry, `${this.driverName}-reg2.sock`) },
    };
    const connect = (file: string) => this.connections.connectRegistration(file);
    const sockets = new FolderSockets({ folder: this.plugins, place, connect });
    return { place, endpoint: socket, sockets: () => sockets };
  }

  /** A rule ended the process: the container comes back. */
  private died(): void {
    const { clock, said } = this.options;
    said('the driver process ended, as a rule of the scenario says');
    void this.killDriver().then(async () => {
      await clock.sleep(CONTAINER_START_MS);
      await this.startDriver();
      said('the driver container started again');
    });
  }

  async killDriver(): Promise<void> {
    const { living } = this;
    if (!living) return;
    this.living = undefined;
    // First: its calls hold the turn, and none of them will end.
    this.connections.cut();
    await this.options.turns.run(async () => {
      const quiet = living.life.end();
      await living.driver.kill();
      await quiet;
      await this.kernel.closeDescriptors();
    });
  }

  async restartDriver(): Promise<void> {
    await this.stopDriver();
    await this.startDriver();
  }

  async stopDriver(): Promise<void> {
    const { living } = this;
    if (!living) return;
    this.living = undefined;
    await this.options.turns.run(async () => {
      await living.driver.stop(0);
      await living.life.end();
    });
    this.connections.cut();
  }

  /** Arms scenarios from here on, also for the driver's next lives. @throws ScenarioProblems */
  async arm(name: string, text: string): Promise<void> {
    const { living } = this;
    if (living) await this.options.turns.run(() => living.driver.scenarios.put(text, `${name}.yaml`));
  }

  private connect(endpoint = this.options.socket): CsiClient {
    const { connections, options, plugins } = this;
    if (endpoint === options.socket) return connections.connect();
    // Whoever names no endpoint is called where it has registered.
    const isRegistration = plugins.listenerAt(endpoint) !== undefined;
    return isRegistration ? connections.connectAmiss() : connections.connectElsewhere(endpoint);
  }

  /** What happens to the machine from outside: who holds a mount, which one dies. */
  get control(): MemoryControl {
    return this.kernel.host.control;
  }

  get nodeName(): string {
    return this.options.nodeName;
  }

  get machine(): NodeMachine {
    return {
      mounts: hostMountView(() => this.kernel.host.mounts, true),
      connect: (endpoint) => this.connect(endpoint),
      plugins: this.plugins,
      driverName: this.driverName,
      power: {
        restartDriver: () => this.restartDriver(),
        killDriver: () => this.killDriver(),
        startDriver: () => this.startDriver(),
        cut: async () => {
          await this.killDriver();
          this.kernel = this.boot();
        },
        boot: () => this.startDriver(),
      },
    };
  }
}

export function socketOf(dataDir: string, nodeName: string): string {
  return path.join(path.dirname(dataDir), `${nodeName}.sock`);
}
