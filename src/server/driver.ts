import * as fs from 'node:fs/promises';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import * as path from 'node:path';
import { type ConnectionInjector, type Server, ServerCredentials } from '@grpc/grpc-js';
import { loadRegistration } from '../csi/load';
import { Journal } from '../journal/journal';
import { NdjsonFile } from '../journal/ndjson-file';
import { Engine } from '../scenarios/engine/engine';
import { Library } from '../scenarios/library/library';
import { servicesOf } from '../services/capabilities';
import type { Env } from '../services/env';
import { makeHandlers } from '../services/index';
import { type Recovery, recover } from '../services/recovery';
import { keyOf } from '../util/keys';
import { Layout } from '../volumes/layout';
import { Locks } from '../volumes/locks';
import { prepareDataFolder, takeFolder } from './data-folder';
import type { DriverOptions } from './driver-options';
import { makeGrpcServer } from './grpc';
import { makeEnv } from './make-env';
import { NodeGauge } from './node-gauge';
import { Pipeline } from './pipeline';
import { ownProcess, type ProcessHooks } from './process-control';
import { registrationHandlers } from './registration/handlers';
import { clearPlace, findPlace, type RegistrationPlace } from './registration/place';
import { mountsReachKubelet } from './registration/propagation';
import { Registration } from './registration/registration';
import { ServedSockets } from './registration/served-sockets';
import { ScenarioGate } from './scenario-gate';
import { UnixSocket } from './socket';

export type { DriverOptions, KubeletOptions } from './driver-options';

const KEEPALIVE_MS = 30_000;
/** How long SIGTERM waits for running calls before it cuts them off. */
const DRAIN_MS = 10_000;

/** One driver process: everything it is made of is put together here and nowhere else. */
export class Driver {
  readonly journal: Journal;
  readonly pipeline: Pipeline;
  readonly locks: Locks;
  readonly engine: Engine;
  readonly scenarios: Library;

  private constructor(
    readonly env: Env,
    private readonly options: DriverOptions,
    private readonly file: NdjsonFile,
    /** Tells this process from others that share the data folder: the name of its journal. */
    readonly processName: string,
    private readonly unlock: () => Promise<void>,
    private readonly kubelet: Kubelet | undefined,
  ) {
    const { clock, log } = options;
    this.journal = new Journal({ clock, sink: file });
    this.locks = new Locks(clock);
    const event = (name: string, details: object) =>
      this.journal.append({ type: 'event', event: name, details });
    const hooks: ProcessHooks = {
      save: () => this.save(),
      closeSocket: (ms) => this.closeSocket(ms),
    };
    const timers = options.timers ?? clock;
    const { place } = kubelet ?? {};
    if (place)
      this.registration = new Registration({
        place,
        endpoint: options.kubelet?.endpoint ?? options.socket,
        clock: timers,
        log,
        event,
        sockets: (spokeAndLeft) =>
          new ServedSockets({
            place,
            definition: loadRegistration(),
            log,
            keepaliveMs: options.keepaliveMs ?? KEEPALIVE_MS,
            pipeline: () => this.pipeline,
            spokeAndLeft,
          }),
      });
    else if (options.registration)
      this.registration = new Registration({ ...options.registration, clock: timers, log, event });
    const node = new NodeGauge(env);
    this.engine = new Engine({
      clock,
      timers,
      process: (options.processControl ?? ownProcess)(hooks),
      registration: this.registration,
      node: () => node.facts(),
      event,
      changed: () => {
        this.scenarios.changed();
        options.onScenarioChange?.();
      },
      machineChanged: (scenario, machine, state) => this.scenarios.shareMachine(scenario, machine, state),
    });
    this.scenarios = new Library({
      engine: this.engine,
      folder: env.layout.scenarios,
      places: options.scenarios ?? [],
      gallery: options.gallery ?? [],
      process: processName,
      host: options.host,
      clock,
      log,
      event,
    });
    const gate = options.faults ?? new ScenarioGate(env, this.engine);
    this.pipeline = new Pipeline({
      env,
      handlers: makeHandlers(registrationHandlers(() => this.registration)),
      locks: this.locks,
      faults: options.aroundGate?.(gate) ?? gate,
      journal: this.journal,
      served: new Set([...servicesOf(options.profile), 'Registration']),
      rules: { ...options.capabilities, strictLimits: options.strictLimits },
      secrets: options.secrets,
    });
    this.grpc = makeGrpcServer(this.pipeline, options.keepaliveMs ?? KEEPALIVE_MS, options.definitions);
    this.injector = this.grpc.createConnectionInjector(ServerCredentials.createInsecure());
    this.socket = new UnixSocket({
      file: options.socket,
      log,
      ...(options.unref !== undefined && { unref: options.unref }),
      onConnection: (connection) => {
        this.injector.injectConnection(connection);
        this.noticeSilent(connection);
      },
    });
  }

  /**
   * A client whose `:authority` is a socket path is refused by Node's HTTP/2 before any of our code runs, so that its
   * calls leave no trace here: the only sign is a connection that spoke and made no call.
   */
  private noticeSilent(connection: Socket): void {
    const before = this.pipeline.callCount;
    connection.once('close', () => {
      if (connection.bytesRead === 0 || this.pipeline.callCount > before) return;
      this.options.log.warn(
        { bytes: connection.bytesRead },
        'a client connected, spoke and left without a call; clients of 2022 and before send an :authority that HTTP/2 refuses (docs/limitations.md)',
      );
    });
  }

  /** Undefined where somebody else registers the driver, or nobody. */
  readonly registration: Registration | undefined;
  private readonly grpc: Server;
  private readonly injector: ConnectionInjector;
  private readonly socket: UnixSocket;
  private stopping: Promise<void> | undefined;

  /** Reads the data folder, makes it agree with the kernel, then listens. */
  static async start(options: DriverOptions): Promise<{ driver: Driver; recovery: Recovery }> {
    const dataDir = path.resolve(options.dataDir);
    await prepareDataFolder(dataDir);
    // The kernel tells the files behind mounts and loop devices by their real paths.
    const layout = new Layout(await fs.realpath(dataDir));
    const unlock = await takeFolder(options, layout);
    const kubelet = await meetKubelet(options).catch(async (error: unknown) => {
      await unlock();
      throw error;
    });
    const processName = `${options.profile}-${keyOf(options.nodeId).slice(0, 12)}`;
    const file = new NdjsonFile(path.join(layout.journal, `${processName}.ndjson`), options.log);
    try {
      const env = await makeEnv(options, layout);
      for (const store of [env.volumes, env.snapshots, env.groups, env.node?.store]) await store?.load();
      const recovery = await recover(env);
      for (const sentence of recovery.repaired) options.log.warn({}, sentence);
      await env.nodes.announce();
      await file.open();
      const driver = new Driver(env, options, file, processName, unlock, kubelet);
      const details = { pid: process.pid, host: hostname(), nodeId: options.nodeId, ...recovery };
      driver.journal.append({ type: 'event', event: 'started', details });
      // Armed before anybody can call.
      driver.scenarios.start();
      await driver.socket.listen();
      await driver.registration?.start().catch(async (error: unknown) => {
        await driver.cutOff();
        throw error;
      });
      return { driver, recovery };
    } catch (error) {
      await file.close();
      await unlock();
      throw error;
    }
  }

  /** Everything that a killed process would lose and the next one wants. */
  private async save(): Promise<void> {
    await this.scenarios.flush();
    await this.file.flush();
  }

  private reopening: AbortController | undefined;

  /** Cuts every connection and is gone, for a time or until `reopenSocket`. */
  private async closeSocket(ms: number | undefined): Promise<void> {
    this.journal.append({
      type: 'event',
      event: 'socketClosed',
      details: ms === undefined ? {} : { forMs: ms },
    });
    await this.socket.stopAccepting();
    this.socket.destroyConnections();
    this.reopening?.abort();
    const reopening = new AbortController();
    this.reopening = reopening;
    if (ms === undefined) return;
    void (this.options.timers ?? this.options.clock).sleep(ms, reopening.signal).then(
      () => this.reopenSocket(),
      () => undefined,
    );
  }

  /** Listens again after `closeSocket`; otherwise nothing happens. */
  async reopenSocket(): Promise<void> {
    if (!this.reopening || this.stopping) return;
    this.reopening.abort();
    this.reopening = undefined;
    await this.socket.listen();
    this.journal.append({ type: 'event', event: 'socketOpened', details: {} });
  }

  /** Lets go of every call, heals what rules did and counts from nothing; one scenario alone when it is named. */
  async reset(scenario?: string): Promise<void> {
    try {
      await this.scenarios.reset(scenario);
    } finally {
      if (scenario === undefined) await this.reopenSocket();
    }
  }

  get socketPath(): string {
    return this.options.socket;
  }

  /** Whether mounts made here come to the kubelet: true, or what is wrong; undefined without a kubelet or without mounts. */
  get mountsReachKubelet(): true | string | undefined {
    return this.kubelet?.mountsReach;
  }

  /** The kubelet's folder, without symbolic links. */
  get kubeletDir(): string | undefined {
    return this.kubelet?.dir;
  }

  /** Takes no new calls, lets running ones end, removes the socket. Calls that hang are cut off after `drainMs`. */
  stop(drainMs = DRAIN_MS): Promise<void> {
    this.stopping ??= this.shutDown(drainMs);
    return this.stopping;
  }

  /**
   * Ends as a killed process does, for a driver that is not alone in its process: connections are cut, no answer and no
   * word of an end is written, the records stay as they are. Whoever put something around the gate keeps the calls that
   * run from going on (`aroundGate`).
   */
  kill(): Promise<void> {
    this.stopping ??= this.cutOff();
    return this.stopping;
  }

  private async cutOff(): Promise<void> {
    this.reopening?.abort();
    this.registration?.kill();
    // First: what is still said from here on is said to nobody.
    await this.file.close();
    await this.scenarios.stop();
    await this.socket.stopAccepting();
    this.socket.destroyConnections();
    this.injector.destroy();
    this.grpc.forceShutdown();
    await this.unlock();
  }

  /** A call that has ended here has not reached its client yet. Resolves when every connection is closed. */
  private sendLastAnswers(): Promise<void> {
    return new Promise((resolve) => this.grpc.tryShutdown(() => resolve()));
  }

  private async shutDown(drainMs: number): Promise<void> {
    const { clock } = this.options;
    this.reopening?.abort();
    // First: the kubelet is to send nothing more to a driver that goes.
    await this.registration?.stop();
    await this.socket.stopAccepting();
    // Whoever hangs because a rule says so would hang until the end.
    this.engine.close();
    const patience = new AbortController();
    await Promise.race([
      this.pipeline.drained().then(() => this.sendLastAnswers()),
      clock.sleep(drainMs, patience.signal).catch(() => undefined),
    ]);
    patience.abort();
    this.registration?.close();
    this.injector.destroy();
    this.socket.destroyConnections();
    this.grpc.forceShutdown();
    this.journal.append({ type: 'event', event: 'stopped', details: {} });
    await this.scenarios.stop();
    await this.file.close();
    await this.unlock();
  }
}

interface Kubelet {
  readonly dir: string;
  /** Undefined where nothing is really mounted. */
  readonly mountsReach: true | string | undefined;
  /** Undefined when the driver is not to register itself. */
  readonly place: RegistrationPlace | undefined;
}

/** Before anything that takes time: a socket that a killed process left makes the kubelet wait longer and longer. */
async function meetKubelet({ kubelet, driverName, host, log }: DriverOptions): Promise<Kubelet | undefined> {
  if (!kubelet) return undefined;
  const place = await findPlace(kubelet.dir, driverName, kubelet.register);
  const { kubeletDir: dir, given } = place;
  if (given !== dir)
    log.info({ kubelet_dir: given, real: dir }, 'the folder of the kubelet is a symbolic link');
  if (kubelet.register)
    for (const file of await clearPlace(place))
      log.info({ socket: file }, 'removed a registration socket that nobody listened on');
  const mountsReach = host.kind === 'memory' ? undefined : mountsReachKubelet(dir, await host.mounts.list());
  if (typeof mountsReach === 'string') log.warn({ kubelet_dir: dir }, mountsReach);
  return { dir, mountsReach, place: kubelet.register ? place : undefined };
}
