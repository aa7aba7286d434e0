import * as fs from 'node:fs';
import * as path from 'node:path';
import { type CsiClient, connectCsi } from '../../src/csi/client';
import type { VolumeCapability } from '../../src/csi/gen/csi/v1/VolumeCapability';
import type { ClientRequestOf, ClientResponseOf, CsiMethod } from '../../src/csi/rpcs';
import { Code, CsiError } from '../../src/csi/status';
import { createMemoryHost } from '../../src/host/memory';
import { Timeline } from '../../src/journal/timeline';
import { type Verdict, verify } from '../../src/scenarios/verdict/verify';
import { leaksOf, volumeViews } from '../../src/server/inspect';
import type { ProcessHooks } from '../../src/server/process-control';
import { VirtualClock } from '../../src/util/virtual-clock';
import { definitions, TestDriver, type TestDriverOptions } from './driver';
import { galleryFile } from './gallery-files';
import { KernelsClock } from './kernels-clock';
import { MIB, type MODE, mountCapability } from './lifecycle';
import { ATTACHER, KUBELET, type Patience, SIDECAR } from './patience';

/** What a CO sees of a call. */
export interface Seen<M extends CsiMethod = CsiMethod> {
  code: string;
  message: string;
  reply: ClientResponseOf<M> | undefined;
}

/** Longer than any scenario of the gallery lasts for one volume. */
const MOST_TRIES = 30;

export interface StageOptions {
  name?: string;
  backend?: string;
  fsType?: string;
  mode?: keyof typeof MODE;
  size?: number;
  group?: string;
  parameters?: Record<string, string>;
}

/** A volume of a claim, with the paths of the pod that uses it. */
export interface Claim {
  id: string;
  staging: string;
  target: string;
  capability: VolumeCapability;
  publishContext: Record<string, string>;
}

/**
 * The parts of Kubernetes that call a driver, playing against one that has a scenario of the gallery: every call is
 * repeated as they repeat it. Their time and the driver's is one clock that only this moves.
 */
export class Gallery {
  readonly clock: VirtualClock;
  /** What rules did to the process. */
  readonly acts: string[] = [];

  private constructor(
    readonly scenario: string,
    private readonly options: Partial<TestDriverOptions>,
    private current: TestDriver,
    clock: VirtualClock,
    acts: string[],
  ) {
    this.clock = clock;
    this.acts = acts;
  }

  static async start(scenario: string, options: Partial<TestDriverOptions> = {}): Promise<Gallery> {
    const clock = options.backend === 'loop' ? new KernelsClock() : new VirtualClock();
    const acts: string[] = [];
    const all = {
      backend: 'memory' as const,
      host: createMemoryHost(),
      clock,
      scenarios: [galleryFile(scenario)],
      processControl: (hooks: ProcessHooks) => crashing(hooks, acts),
      ...options,
    };
    return new Gallery(scenario, all, await TestDriver.start(all), clock, acts);
  }

  get driver(): TestDriver {
    return this.current;
  }

  /** Another driver on the data folder and the machine of the one before, as after a crash. */
  async restart(): Promise<void> {
    const { dataDir, dir } = this.current;
    this.folders.push(dir);
    this.disconnect();
    await this.current.stop();
    this.current = await TestDriver.start({
      ...(this.options as TestDriverOptions),
      dataDir,
    });
  }

  async close(): Promise<void> {
    this.disconnect();
    await this.current.stop();
    if (this.options.backend !== 'memory') return;
    for (const folder of [...this.folders, this.current.dir])
      fs.rmSync(folder, { recursive: true, force: true });
  }

  /** One call. While a rule holds it, time goes on, but not beyond the caller's deadline. */
  async call<M extends CsiMethod>(
    method: M,
    request: ClientRequestOf<M>,
    { deadlineMs }: Pick<Patience, 'deadlineMs'> = KUBELET,
  ): Promise<Seen<M>> {
    const leave = new AbortController();
    const ends = this.clock.monotonic() + deadlineMs;
    let seen: Seen<M> | undefined;
    const call = this.client()[method] as (r: unknown, o: object) => Promise<ClientResponseOf<M>>;
    const done = call(request, { signal: leave.signal }).then(
      (reply) => {
        seen = { code: 'OK', message: '', reply };
      },
      (error) => {
        if (!(error instanceof CsiError)) throw error;
        const late = leave.signal.aborted && error.code === Code.CANCELLED;
        const code = late ? 'DEADLINE_EXCEEDED' : error.codeName;
        seen = { code, message: error.message, reply: undefined };
      },
    );
    const { held } = this.current.driver.engine;
    // Calls whose caller has left may be held still: this one is not slow because of them.
    const others = new Set(held.list().map((one) => one.call));
    while (!seen && !leave.signal.aborted) {
      await Promise.race([done, new Promise((resolve) => setImmediate(resolve))]);
      if (seen || held.list().every((one) => others.has(one.call))) continue;
      const left = ends - this.clock.monotonic();
      if (left <= 0) leave.abort();
      else await this.clock.advance(Math.min(this.clock.untilNext ?? left, left));
    }
    await done;
    if (seen?.code === 'UNAVAILABLE') this.disconnect();
    if (!seen) throw new Error(`${method} has not ended`);
    return seen;
  }

  /** The same call until it answers OK, with the caller's pauses. @returns what it saw, the OK last. */
  async until<M extends CsiMethod>(
    method: M,
    request: ClientRequestOf<M>,
    patience: Patience = KUBELET,
  ): Promise<Seen<M>[]> {
    const seen: Seen<M>[] = [];
    for (let pause = patience.firstMs; ; pause = Math.min(pause * 2, patience.longestMs)) {
      const one = await this.call(method, request, patience);
      seen.push(one);
      if (one.code === 'OK') return seen;
      if (seen.length >= MOST_TRIES)
        throw new Error(`${method} never answered OK; last ${one.code}: ${one.message}`);
      await this.pass(pause);
    }
  }

  /** Lets time pass, and what has been waiting for it come to its end. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    const { engine, pipeline } = this.current.driver;
    if (engine.held.size === 0) await pipeline.drained();
  }

  private readonly folders: string[] = [];
  private connection: CsiClient | undefined;

  /** The kubelet opens a connection for every call; here it is enough to do so after one that was lost. */
  private client(): CsiClient {
    this.connection ??= connectCsi(path.join(this.current.dir, 'csi.sock'), definitions());
    return this.connection;
  }

  private disconnect(): void {
    this.connection?.close();
    this.connection = undefined;
  }

  private lastName = 0;

  /** What external-provisioner asks for. */
  createRequest({ name, backend, fsType, mode, size, parameters }: StageOptions = {}) {
    return {
      name: name ?? `pvc-${++this.lastName}`,
      capacity_range: { required_bytes: `${size ?? 64 * MIB}` },
      volume_capabilities: [
        mountCapability({ ...(fsType !== undefined && { fsType }), ...(mode && { mode }) }),
      ],
      parameters: { ...(backend !== undefined && { backend }), ...parameters },
    };
  }

  async provision(options: StageOptions = {}): Promise<Claim> {
    const { fsType, mode, group } = options;
    const seen = await this.until('CreateVolume', this.createRequest(options), SIDECAR);
    const id = seen.at(-1)?.reply?.volume?.volume_id ?? '';
    return {
      id,
      staging: await this.driver.folder(`${id}-staging`),
      target: await this.driver.target(id),
      capability: mountCapability({
        ...(fsType !== undefined && { fsType }),
        ...(mode && { mode }),
        ...(group !== undefined && { group }),
      }),
      publishContext: {},
    };
  }

  attachRequest({ id, capability }: Claim) {
    return { volume_id: id, node_id: 'node-1', volume_capability: capability };
  }

  async attach(claim: Claim): Promise<Seen<'ControllerPublishVolume'>[]> {
    const seen = await this.until('ControllerPublishVolume', this.attachRequest(claim), ATTACHER);
    claim.publishContext = seen.at(-1)?.reply?.publish_context ?? {};
    return seen;
  }

  stageRequest({ id, staging, capability, publishContext }: Claim) {
    return {
      volume_id: id,
      publish_context: publishContext,
      staging_target_path: staging,
      volume_capability: capability,
    };
  }

  stage(claim: Claim): Promise<Seen<'NodeStageVolume'>[]> {
    return this.until('NodeStageVolume', this.stageRequest(claim));
  }

  publishRequest(claim: Claim) {
    return {
      ...this.stageRequest(claim),
      target_path: claim.target,
      volume_context: { 'csi.storage.k8s.io/pod.uid': `pod-of-${claim.id}` },
    };
  }

  publish(claim: Claim): Promise<Seen<'NodePublishVolume'>[]> {
    return this.until('NodePublishVolume', this.publishRequest(claim));
  }

  unpublish({ id, target }: Claim): Promise<Seen<'NodeUnpublishVolume'>[]> {
    return this.until('NodeUnpublishVolume', { volume_id: id, target_path: target });
  }

  unstage({ id, staging }: Claim): Promise<Seen<'NodeUnstageVolume'>[]> {
    return this.until('NodeUnstageVolume', { volume_id: id, staging_target_path: staging });
  }

  detach({ id }: Claim): Promise<Seen<'ControllerUnpublishVolume'>[]> {
    return this.until('ControllerUnpublishVolume', { volume_id: id, node_id: 'node-1' }, ATTACHER);
  }

  delete({ id }: Claim): Promise<Seen<'DeleteVolume'>[]> {
    return this.until('DeleteVolume', { volume_id: id }, SIDECAR);
  }

  /** From a claim to a pod that runs. */
  async run(options: StageOptions = {}): Promise<Claim> {
    const claim = await this.provision(options);
    await this.attach(claim);
    await this.stage(claim);
    await this.publish(claim);
    return claim;
  }

  /** The way back of a pod that is deleted, and of its claim. */
  async end(claim: Claim): Promise<void> {
    await this.unpublish(claim);
    await this.unstage(claim);
    await this.detach(claim);
    await this.delete(claim);
  }

  isStaged({ id }: Claim): boolean {
    return this.driver.driver.env.node?.store.stage(id) !== undefined;
  }

  isPublished({ target }: Claim): boolean {
    return this.driver.driver.env.node?.store.publication(target) !== undefined;
  }

  isAttached({ id }: Claim): boolean {
    const { attachments = {} } = this.driver.driver.env.volumes.find(id) ?? {};
    return Object.keys(attachments).length > 0;
  }

  /** Fires of each rule so far. */
  fired(): Record<string, number> {
    const status = this.driver.driver.engine.status().find(({ name }) => name === this.scenario);
    return Object.fromEntries((status?.rules ?? []).map(({ name, fired }) => [name, fired]));
  }

  /** What `fake-csi verify` says of the scenario's own expectations, now. */
  async verdict(): Promise<Verdict> {
    const { driver, dataDir } = this.driver;
    return verify({
      expectations: driver.engine.scenario(this.scenario)?.expect ?? [],
      scenario: this.scenario,
      timeline: new Timeline({
        folder: path.join(dataDir, 'journal'),
        clock: this.clock,
        live: { process: driver.processName, journal: driver.journal },
      }),
      world: {
        volumes: () => volumeViews(driver.env).map(({ id, state }) => ({ id, state })),
        leaks: async () => {
          const { loops, mounts, frozen } = await leaksOf(driver.env);
          return { loops: loops.length, mounts: mounts.length, frozen: frozen.length };
        },
      },
      waitMs: 0,
      clock: this.clock,
    });
  }
}

/** A process that crashes takes its connections with it: that is all a client sees. */
function crashing({ save, closeSocket }: ProcessHooks, acts: string[]) {
  return {
    exit: async (code: number): Promise<never> => {
      acts.push(`exit ${code}`);
      await save();
      throw new CsiError(Code.UNAVAILABLE, 'the process is gone');
    },
    stopFor: async (ms: number) => {
      acts.push(`stop ${ms}`);
    },
    closeSocket,
  };
}

/** `UNAVAILABLE, UNAVAILABLE, OK` */
export const codesOf = (seen: readonly Seen[]): string => seen.map(({ code }) => code).join(', ');

/** What an injected error says, for `expect`. */
export const injected = (scenario: string, rule: string, turn: string) =>
  expect.stringContaining(`[scenario ${scenario}: rule ${rule}, ${turn}] `);
