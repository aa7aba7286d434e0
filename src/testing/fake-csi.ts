import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { CsiClient } from '../csi/client';
import type { Host, Mounts } from '../host/host';
import { verdictText } from '../scenarios/verdict/text';
import { type Verdict, verify } from '../scenarios/verdict/verify';
import { type Leaks, leaksOf, type VolumeView, volumeViews } from '../server/inspect';
import type { Clock } from '../util/clock';
import { assertionError } from './assertion';
import { type Call, type CallFilter, type CallQueries, language } from './calls';
import { takeDown } from './clean-up';
import type { StableClient } from './client';
import { type Duration, milliseconds } from './duration';
import { Expectations, type Expecting } from './expect';
import type { Fires } from './fires';
import { type Owner, ScenarioHandle } from './handles';
import type { Lives } from './lives';
import type { Mark, Recording } from './recording';
import { readRule, readScenarios, type ScenarioSource, type ScenarioText } from './scenario-source';
import type { ExpectationSpec, RuleSpec } from './scenario-types';

const PATIENCE = '5s';
/** What a driver of a test is put together from (start.ts). */
export interface Parts {
  lives: Lives;
  recording: Recording;
  queries: CallQueries;
  fires: Fires;
  client: StableClient;
  host: Host;
  clock: Clock;
  socket: string;
  dataDir: string;
  scratch: string;
  keepsData: boolean;
}

/**
 * A CSI driver of a test, in the test's own process, on a real Unix socket. `await using` stops it, or `stop()`.
 * Many of them may run side by side.
 */
export class FakeCsi implements AsyncDisposable {
  /** Of every RPC, over the socket: `csi.client.CreateVolume({…})`. An answer that is not OK is a CsiError. */
  readonly client: CsiClient;
  /** `unix:///…/csi.sock` */
  readonly endpoint: string;
  /** The path in `endpoint`. */
  readonly socket: string;
  readonly dataDir: string;
  readonly #parts: Parts;
  readonly #expectations: Expectations;
  readonly #owner: Owner;
  #stopping: Promise<void> | undefined;
  #rules = 0;
  #marks = 0;

  /** @internal See startFakeCsi. */
  constructor(parts: Parts) {
    this.#parts = parts;
    const { client, socket, dataDir, lives, fires, queries, clock } = parts;
    this.client = client.csi;
    this.socket = socket;
    this.endpoint = `unix://${socket}`;
    this.dataDir = dataDir;
    this.#expectations = new Expectations(queries, clock);
    const isStopped = () => this.#stopping !== undefined;
    this.#owner = {
      driver: () => lives.driver(),
      get isStopped() {
        return isStopped();
      },
      fires,
      queries,
      clock,
    };
  }

  /** @internal Where its mounts are, and whether that is a model of a machine (startKubelet). */
  get machine(): { mounts: Mounts; isModel: boolean } {
    const { mounts, kind } = this.#parts.host;
    return { mounts, isModel: kind === 'memory' };
  }

  /** A folder for staging or target paths, as a CO makes it; removed at the end. @returns its path */
  async folder(name: string): Promise<string> {
    const folder = path.join(this.#parts.scratch, 'folders', name);
    await fs.mkdir(folder, { recursive: true });
    return folder;
  }

  /**
   * Arms one rule: an object, or the one-line form `NodeStageVolume pvc=db/data-0: 2*UNAVAILABLE -> ok`.
   * @throws SpecError, or ScenarioProblems for the one-line form: everything that is wrong with it
   */
  async rule(rule: RuleSpec | string): Promise<ScenarioHandle> {
    const { scenarios } = await this.#parts.lives.driver();
    const taken = new Set(scenarios.list().map(({ name }) => name));
    do this.#rules += 1;
    while (taken.has(`rule-${this.#rules}`));
    return this.#put([readRule(rule, `rule-${this.#rules}`)]);
  }

  /**
   * Arms scenarios, in place of those of the same names.
   * @throws SpecError or ScenarioProblems: everything that is wrong with them
   */
  async scenario(source: ScenarioSource): Promise<ScenarioHandle> {
    return this.#put(readScenarios(source));
  }

  async #put(texts: readonly ScenarioText[]): Promise<ScenarioHandle> {
    const { scenarios } = await this.#parts.lives.driver();
    const handle = new ScenarioHandle(this.#owner, texts);
    for (const { text, name } of texts) await scenarios.put(text, `${name}.yaml`);
    return handle;
  }

  /** Lets go of every call, heals what rules did, counts from nothing: rules, and what tests ask about calls. */
  async reset(): Promise<void> {
    const { lives, queries, fires } = this.#parts;
    const driver = await lives.driver();
    await driver.reset();
    queries.reset();
    fires.reset();
  }

  /** Lets go of hung calls: they go on as if their time were up. @returns how many */
  async release(): Promise<number> {
    const { scenarios } = await this.#parts.lives.driver();
    return scenarios.release();
  }

  /** A moment from which on calls may be asked for (`since`); it is in the journal, too. */
  mark(name = this.#nextMark()): Mark {
    const { lives, recording } = this.#parts;
    const seq = lives.current?.journal.append({ type: 'event', event: 'mark', details: { name } }).seq;
    return { name, seq: seq ?? recording.lastSeq + 1 };
  }

  #nextMark(): string {
    this.#marks += 1;
    return `mark-${this.#marks}`;
  }

  /** In the order of arrival; those that run are among them (`pending`). @throws SpecError for an unknown name */
  calls(filter: CallFilter = {}): Call[] {
    return this.#parts.queries.find(filter);
  }

  /**
   * The first such call, be it there already or to come: when it arrives, or when it is answered where the filter asks
   * for something of the answer (`code`, `message`, `fired`).
   * @throws AssertionError when the time is up (default 5s), with the calls that came instead
   */
  waitForCall(filter: CallFilter, { within = PATIENCE }: { within?: Duration } = {}): Promise<Call> {
    return this.#parts.queries.wait(filter, within);
  }

  /** `await csi.expect({ rpc: 'NodeStageVolume' }).atLeast(2).within('30s')` */
  expect(filter: CallFilter = {}): Expecting {
    return this.#expectations.of(filter);
  }

  /**
   * Expectations in the language of scenarios: objects, or YAML text with `expect:`.
   * @throws AssertionError with the whole verdict when one fails
   */
  async verify(
    expectations: readonly ExpectationSpec[] | string,
    { within = 0, since }: { within?: Duration; since?: Mark | Date } = {},
  ): Promise<Verdict> {
    const { compile, compileText } = language();
    const { recording, queries, clock } = this.#parts;
    const verdict = await verify({
      expectations: typeof expectations === 'string' ? compileText(expectations) : compile(expectations),
      timeline: recording,
      since: queries.moment(since),
      world: {
        volumes: async () => (await this.volumes()).map(({ id, state }) => ({ id, state })),
        leaks: async () => counted(await this.leaks()),
      },
      waitMs: milliseconds(within, 'within'),
      clock,
    });
    if (verdict.passed) return verdict;
    throw assertionError([verdictText(verdict).trimEnd()]);
  }

  /** How often rules fired, by `scenario/rule`, since the start or the last `reset()`. */
  fires(): ReadonlyMap<string, number> {
    return this.#parts.fires.counts();
  }

  /** Every volume, in the order of creation, as the driver's records have it. */
  async volumes(): Promise<VolumeView[]> {
    return volumeViews((await this.#parts.lives.driver()).env);
  }

  /** What is left on the machine of volumes that no record tells of. */
  async leaks(): Promise<Leaks> {
    return leaksOf((await this.#parts.lives.driver()).env);
  }

  /** For messages of matchers: the calls that come nearest to a filter. */
  nearest(filter: CallFilter): string[] {
    return this.#parts.queries.nearest(filter);
  }

  /** Ends the driver as SIGTERM does and starts it on the same data: rules go on counting. Starts one that is down. */
  restart(): Promise<void> {
    return this.#parts.lives.restart();
  }

  /** Ends the driver as kill -9 does: connections are cut, records stay as they are. It is down until `restart()`. */
  crash(): Promise<void> {
    return this.#parts.lives.crash();
  }

  /** Ends the driver and removes its temporary folders, mounts and loop devices among them. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    const { lives, client, host, dataDir, scratch, keepsData } = this.#parts;
    client.renew();
    await lives.stop();
    if (!keepsData && host.kind === 'linux') await takeDown(host, dataDir);
    await fs.rm(scratch, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function counted({ loops, mounts, frozen }: Leaks) {
  return { loops: loops.length, mounts: mounts.length, frozen: frozen.length };
}
