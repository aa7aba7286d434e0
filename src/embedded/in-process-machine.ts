import { createHash } from 'node:crypto';
import * as path from 'node:path';
import type { CsiDefinitions } from '../csi/load';
import { createMemoryHost, type MemoryControl } from '../host/memory';
import { type CallServer, InProcessConnections } from '../kubelet/in-process-client';
import type { NodeMachine } from '../kubelet/machine';
import { Driver } from '../server/driver';
import type { UnaryMethod } from '../services/index';
import type { Turns } from '../util/turns';
import type { VirtualClock } from '../util/virtual-clock';
import { driverOptions, type EmbeddedDriverOptions } from './driver-options';
import { hostMountView } from './host-mount-view';
import { Life } from './life';
import { type TrackedHost, trackedHost } from './tracked-host';

export interface InProcessMachineOptions {
  readonly nodeName: string;
  readonly clock: VirtualClock;
  readonly turns: Turns;
  readonly definitions: CsiDefinitions;
  readonly dataDir: string;
  readonly socket: string;
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

  constructor(private readonly options: InProcessMachineOptions) {
    const { clock, turns, definitions, socket } = options;
    this.kernel = this.boot();
    this.connections = new InProcessConnections({ clock, turns, definitions, socket });
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
    const life = new Life(turns.clock(clock), () => this.died());
    const { driver } = await Driver.start({
      ...driverOptions(
        { ...start, nodeId: nodeName },
        { dataDir, socket, host: this.kernel.host, clock, definitions },
      ),
      // Whichever process it is, it speaks for the whole plugin.
      advertise: 'all',
      clock: life.clock,
      scenarios,
      processControl: life.processControl,
      aroundGate: life.aroundGate,
    });
    this.living = { driver, life };
    const { pipeline } = driver;
    const server: CallServer = (method, request, incoming) =>
      pipeline.unary(method as UnaryMethod, request as never, incoming) as never;
    this.connections.serve(server);
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
      connect: () => this.connections.connect(),
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
