import * as fs from 'node:fs/promises';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import * as path from 'node:path';
import { type ConnectionInjector, type Server, ServerCredentials } from '@grpc/grpc-js';
import type { Backend, BackendName } from '../backends/backend';
import { DiskBackend } from '../backends/disk-backend';
import { DirectoryBackend, TmpfsBackend } from '../backends/tree-backends';
import type { Capabilities } from '../csi/capabilities';
import { type CsiDefinitions, loadRegistration } from '../csi/load';
import type { FsType, Host } from '../host/host';
import { Journal } from '../journal/journal';
import { NdjsonFile } from '../journal/ndjson-file';
import type { ProcessControl } from '../scenarios/engine/actions/action';
import { Engine } from '../scenarios/engine/engine';
import { Library } from '../scenarios/library/library';
import { advertised, type Profile, servicesOf } from '../services/capabilities';
import type { Env } from '../services/env';
import { makeHandlers } from '../services/index';
import { type Recovery, recover } from '../services/recovery';
import type { Clock } from '../util/clock';
import { type Durability, ensureFolder, errnoOf } from '../util/files';
import { keyOf } from '../util/keys';
import type { Log } from '../util/log';
import { AttachmentIndex } from '../volumes/attachment-index';
import { Freezer } from '../volumes/freezer';
import { Layout } from '../volumes/layout';
import { Locks } from '../volumes/locks';
import { NodeRegistry } from '../volumes/node-registry';
import { NodeStore } from '../volumes/node-store';
import { Pool } from '../volumes/pool';
import { RecordStore } from '../volumes/record-store';
import {
  type GroupRecord,
  type NodeRecord,
  RECORD_VERSION,
  type Segments,
  type SnapshotRecord,
  type VolumeRecord,
} from '../volumes/records';
import type { FaultGate } from './gate';
import { makeGrpcServer } from './grpc';
import { NodeGauge } from './node-gauge';
import { Pipeline } from './pipeline';
import { ownProcess, type ProcessHooks } from './process-control';
import { registrationHandlers } from './registration/handlers';
import { clearPlace, findPlace, type RegistrationPlace } from './registration/place';
import { mountsReachKubelet } from './registration/propagation';
import { Registration } from './registration/registration';
import { ScenarioGate } from './scenario-gate';
import type { SecretPolicy } from './secrets';
import { UnixSocket } from './socket';

/** The kubelet on this node, and whether to register with it. */
export interface KubeletOptions {
  /** Its --root-dir. */
  dir: string;
  register: boolean;
  /** Path of the CSI socket as the kubelet sees it; left out: as this process does. */
  endpoint?: string | undefined;
}

export interface DriverOptions {
  dataDir: string;
  /** Path of the socket. */
  socket: string;
  nodeId: string;
  driverName: string;
  version: string;
  profile: Profile;
  /** What GetPluginCapabilities speaks for: this process, or a plugin that has other processes. */
  advertise: Profile;
  capabilities: Capabilities;
  backend: BackendName;
  fsType: FsType;
  defaultSizeBytes: bigint;
  capacityBytes: bigint | undefined;
  maxVolumeBytes: bigint;
  /** 0: no limit. */
  maxVolumesPerNode: number;
  topology: Segments;
  extraTopologies: readonly Segments[];
  strict: boolean;
  strictLimits: boolean;
  secrets: SecretPolicy | undefined;
  durability: Durability;
  host: Host;
  clock: Clock;
  log: Log;
  /** Files and folders of scenarios for this process alone, besides those of the data folder. */
  scenarios?: readonly string[];
  /** The same, of scenarios that are loaded and not armed. */
  gallery?: readonly string[];
  /** What rules may do to the process; left out: to this very one. */
  processControl?: (hooks: ProcessHooks) => ProcessControl;
  /** In place of the scenarios: for tests of the driver itself. */
  faults?: FaultGate;
  /** Puts something around the gate: for a driver that is not alone in its process and still has to stop or die. */
  aroundGate?: (gate: FaultGate) => FaultGate;
  /** Left out: the driver knows of no kubelet, and somebody else registers it (node-driver-registrar). */
  kubelet?: KubeletOptions | undefined;
  /** Told when rules may have fired or machines changed. */
  onScenarioChange?: () => void;
  /** The process may end while the socket is open: for a driver that is not what its process is for. */
  unref?: boolean;
  /** Of csi.v1; left out: read anew from the .proto file. */
  definitions?: CsiDefinitions;
  /** How often a connection is asked whether it lives, and how long it may take to answer, in milliseconds. */
  keepaliveMs?: number;
}

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
    if (kubelet?.place)
      this.registration = new Registration({
        place: kubelet.place,
        endpoint: options.kubelet?.endpoint ?? options.socket,
        definition: loadRegistration(),
        clock,
        log,
        keepaliveMs: options.keepaliveMs ?? KEEPALIVE_MS,
        pipeline: () => this.pipeline,
        event,
      });
    const node = new NodeGauge(env);
    this.engine = new Engine({
      clock,
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
    void this.options.clock.sleep(ms, reopening.signal).then(
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
    await this.scenarios.reset(scenario);
    if (scenario === undefined) await this.reopenSocket();
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

/** @throws Error with one line that a person who started the driver can act on. */
async function prepareDataFolder(folder: string): Promise<void> {
  try {
    ensureFolder(folder);
    await fs.access(folder, fs.constants.W_OK);
  } catch (error) {
    throw new Error(
      `--data-dir ${folder}: it cannot be made or written (${errnoOf(error)}); choose a folder on a writable disk`,
    );
  }
}

/**
 * One controller, and one process a node, may work on a data folder: each believes what it has in memory.
 * @throws Error with one line when another process is there already.
 */
async function takeFolder(options: DriverOptions, layout: Layout): Promise<() => Promise<void>> {
  const parts = [];
  if (options.profile !== 'node')
    parts.push({ who: 'a controller', file: path.join(layout.locks, 'controller.lock') });
  if (options.profile !== 'controller')
    parts.push({
      who: `node ${options.nodeId}`,
      file: path.join(layout.locks, `node-${keyOf(options.nodeId)}.lock`),
    });
  ensureFolder(layout.locks);
  const taken: (() => Promise<void>)[] = [];
  const release = async () => {
    for (const unlock of taken) await unlock();
  };
  for (const { who, file } of parts) {
    try {
      taken.push(await options.host.lockFile(file));
    } catch (error) {
      await release();
      if (errnoOf(error) !== 'EAGAIN') throw error;
      throw new Error(
        `--data-dir ${layout.root}: another process serves ${who} on it; stop that, or choose another --data-dir or --node-id`,
      );
    }
  }
  return release;
}

async function makeEnv(options: DriverOptions, layout: Layout): Promise<Env> {
  const { clock, log, host, profile, capabilities, durability } = options;
  const isNode = profile !== 'controller';
  const isController = profile !== 'node';
  const bootId = await host.bootId();
  const node: NodeRecord | undefined = isNode
    ? {
        version: RECORD_VERSION,
        id: options.nodeId,
        topology: options.topology,
        maxVolumes: options.maxVolumesPerNode,
        bootId,
      }
    : undefined;
  const store = node && new NodeStore({ paths: layout.node(node.id), bootId, log });
  const pool = new Pool(options.capacityBytes);
  const attachments = new AttachmentIndex();
  const owner = isController ? 'controller' : keyOf(options.nodeId).slice(0, 12);
  const common = { durability, log, owner };
  // A node alone makes and keeps static volumes; beside a controller, that is who grows and lists them.
  const keepsStatic = isController || options.advertise === 'node';
  return {
    settings: {
      driverName: options.driverName,
      vendorVersion: options.version,
      capabilities,
      advertised: advertised(capabilities, options.advertise),
      defaultBackend: options.backend,
      defaultFsType: options.fsType,
      defaultSizeBytes: options.defaultSizeBytes,
      maxVolumeBytes: options.maxVolumeBytes,
      strict: options.strict,
    },
    host,
    clock,
    log,
    layout,
    bootId,
    volumes: new RecordStore<VolumeRecord>({
      ...common,
      root: layout.volumes,
      file: 'volume.json',
      required: ['id', 'name', 'sequence', 'origin', 'capacityBytes', 'backend', 'attachments'],
      owns: ({ origin, node: home }) =>
        origin === 'created' ? isController : origin === 'static' ? keepsStatic : home === node?.id,
      onChange: (before, after) => {
        pool.adjust(before?.capacityBytes, after?.capacityBytes);
        attachments.adjust(before, after);
      },
    }),
    snapshots: new RecordStore<SnapshotRecord>({
      ...common,
      root: layout.snapshots,
      file: 'snapshot.json',
      required: ['id', 'name', 'sequence', 'sourceVolumeId', 'sizeBytes', 'backend'],
      owns: () => isController,
      onChange: (before, after) => pool.adjust(before?.sizeBytes, after?.sizeBytes),
    }),
    groups: new RecordStore<GroupRecord>({
      ...common,
      root: layout.groups,
      file: 'group.json',
      required: ['id', 'name', 'snapshotIds', 'sourceVolumeIds'],
      owns: () => isController,
    }),
    nodes: new NodeRegistry(layout, node, options.extraTopologies),
    pool,
    attachments,
    freezer: new Freezer(host, store?.paths.undo ?? layout.undo, log),
    making: new Map(),
    backends: makeBackends(options, store, await host.abilities()),
    node: node && store ? { record: node, store } : undefined,
  };
}

function makeBackends(
  options: DriverOptions,
  store: NodeStore | undefined,
  abilities: Awaited<ReturnType<Host['abilities']>>,
): ReadonlyMap<BackendName, Backend> {
  const { host, clock, fsType } = options;
  const growMountedExt4 = abilities.growMountedExt4 === true;
  const mountPointOf = (volumeId: string) => store && path.join(store.paths.mounts, keyOf(volumeId));
  const disks = { host, clock, defaultFsType: fsType, growMountedExt4 };
  // One machine a process: the model and the kernel are not mixed, since a path can only be looked up in one of them.
  const backends: Backend[] =
    host.kind === 'memory'
      ? [new DiskBackend({ name: 'memory', ...disks })]
      : [
          new DiskBackend({ name: 'loop', ...disks }),
          new TmpfsBackend(host, mountPointOf),
          new DirectoryBackend(host),
        ];
  return new Map(backends.map((backend) => [backend.name, backend]));
}
