import * as path from 'node:path';
import { notFound } from '../../csi/status';
import type { Host } from '../../host/host';
import type { Clock } from '../../util/clock';
import { ensureFolder, removeFile, writeFileAtomic } from '../../util/files';
import type { Log } from '../../util/log';
import type { SavedScenario } from '../engine/armed';
import type { Engine } from '../engine/engine';
import { EXPIRED, type ScenarioStatus } from '../engine/scenario-set';
import type { Problem } from '../language';
import { Arming, problemOf } from './arming';
import { formatted, language } from './language';
import { SharedMachines } from './shared-machines';
import { type Source, stampOf } from './source';
import { Sources } from './sources';
import { StateFile } from './state-file';
import { ask, askedSince, type Switches, SwitchesFile } from './switches';
import { Watcher } from './watcher';

export interface LibraryOptions {
  engine: Engine;
  /** `<data-dir>/scenarios`: what all processes share. */
  folder: string;
  /** Files and folders of this process alone (`--scenario`). */
  places: readonly string[];
  /**
   * Files and folders of this process alone whose scenarios are loaded and rest (`--gallery`): one acts on volumes that
   * name it, or once somebody arms it. Another of its name, from elsewhere, stands in its place.
   */
  gallery?: readonly string[];
  /** Tells this process from others that share the folder. */
  process: string;
  host: Pick<Host, 'lockFile'>;
  clock: Clock;
  log: Log;
  event(event: 'scenarioReloaded' | 'scenarioReloadFailed', details: object): void;
}

/** A scenario for people: what the engine counts, and where it comes from. */
export interface ScenarioSummary extends ScenarioStatus {
  file: string;
  labels: Readonly<Record<string, string>>;
  /** Of the file as it is now: while there are any, the last good text acts. */
  problems: readonly Problem[];
}

/** A text that is no scenario: every problem, each with its place. */
export class ScenarioProblems extends Error {
  override readonly name = 'ScenarioProblems';

  constructor(readonly problems: readonly Problem[]) {
    super(problems.map((problem) => formatted(problem)).join('\n'));
  }
}

/** Its file goes when it expires: the rules of the command line. */
export const AD_HOC_LABEL = 'fake-csi/ad-hoc';

/** Where scenarios come from: read before the socket listens, and again whenever they change. */
export class Library {
  private readonly sources: Sources;
  private readonly watcher = new Watcher(() => this.look());
  private readonly switches: SwitchesFile;
  private readonly state: StateFile;
  private readonly machines: SharedMachines;
  private readonly arming = new Arming();
  private seen: Switches;
  private clashes: readonly Problem[] = [];
  private switchesStamp: string | undefined;
  private lookFailed: string | undefined;

  constructor(private readonly options: LibraryOptions) {
    const { folder, places, gallery = [], host, clock, engine, log, event } = options;
    this.sources = new Sources({ folder, places, gallery, log, event });
    this.switches = new SwitchesFile(folder, host, clock);
    this.state = new StateFile(
      path.join(folder, '.state', `${options.process}.json`),
      () => engine.save(),
      log,
    );
    this.machines = new SharedMachines({
      switches: this.switches,
      log,
      adopt: (scenario, states) => {
        for (const [machine, value] of Object.entries(states)) engine.adoptMachine(scenario, machine, value);
      },
    });
    this.seen = this.switches.read();
  }

  /** Reloads that found something wrong. For metrics. */
  get failures(): number {
    return this.sources.failures;
  }

  /**
   * Reads and arms everything.
   * @throws ScenarioProblems when a file that was to be armed in this process is no scenario; what is wrong in the
   * shared folder or the gallery is logged and shown, since it must not keep a driver from coming up.
   */
  start(): void {
    const { folder, places } = this.options;
    ensureFolder(folder, 0o755);
    ensureFolder(path.join(folder, '.state'), 0o700);
    const named = { '--scenario': places, '--gallery': this.options.gallery ?? [] };
    for (const [option, given] of Object.entries(named))
      for (const place of given)
        if (stampOf(place) === undefined)
          throw new Error(`${option} ${place}: no such file or folder; give a YAML file or a folder of them`);
    this.sources.read();
    const wrong = places
      .flatMap((place) => this.sources.problems(place))
      .filter(({ severity }) => severity === 'error');
    if (wrong.length > 0) throw new ScenarioProblems(wrong);
    this.load(this.state.read());
    this.watcher.watch(this.sources.watched());
  }

  /** Hands the engine what is there now, as the switches say. */
  private load(saved: Record<string, SavedScenario> = {}): void {
    const { engine, clock } = this.options;
    const { loaded, clashes } = this.arming.plan(this.sources.all(), this.seen, saved, clock.now());
    this.clashes = clashes;
    engine.load(loaded, saved);
    this.machines.loaded(
      new Map(loaded.map(({ scenario, fingerprint }) => [scenario.name, fingerprint])),
      this.seen,
    );
    // Since when they are armed must outlive the process, or a time to live would begin anew with each of its lives.
    if (loaded.length > 0) this.state.changed();
  }

  /** Looks at once; what changed acts when this returns. Watching does the same by itself. */
  refresh(): void {
    const switched = this.readSwitches();
    if (this.sources.read() || switched) {
      this.load();
      this.watcher.watch(this.sources.watched());
    }
    this.sweep();
  }

  private readSwitches(): boolean {
    const stamp = stampOf(this.switches.file);
    if (stamp === this.switchesStamp) return false;
    this.switchesStamp = stamp;
    this.take(this.switches.read());
    return true;
  }

  /** Does what somebody asked of every process and this one has not done yet. */
  private take(now: Switches): void {
    const { engine } = this.options;
    const before = this.seen;
    this.seen = now;
    for (const name of askedSince(before.resets, now.resets)) engine.reset(name || undefined);
    for (const name of askedSince(before.releases, now.releases)) engine.release(name || undefined);
    this.machines.take(before, now);
  }

  /** A rule, or a person, put a machine into another state here: every process has to see it so. */
  shareMachine(scenario: string, machine: string, state: string): void {
    this.machines.tell(scenario, machine, state);
  }

  /** The command line's own rules leave no file behind when their time is over. */
  private sweep(): void {
    const ended = new Set(
      this.options.engine.status().flatMap(({ name, stopped }) => (stopped === EXPIRED ? [name] : [])),
    );
    for (const { source } of this.sources.all()) {
      const { file, shared, scenarios } = source;
      if (shared && scenarios.every(({ name, labels }) => labels[AD_HOC_LABEL] === 'true' && ended.has(name)))
        if (scenarios.length > 0) removeFile(file);
    }
  }

  private look(): void {
    try {
      this.refresh();
      this.lookFailed = undefined;
    } catch (error) {
      // Once for each reason: looks are many, and a log that lies in a watched folder would bring about the next.
      if (this.lookFailed !== String(error))
        this.options.log.error({ error: String(error) }, 'the scenarios cannot be looked at');
      this.lookFailed = String(error);
    }
  }

  /** Everything that is wrong with what is there now. */
  problems(): Problem[] {
    return [...this.sources.problems(), ...this.clashes];
  }

  list(): ScenarioSummary[] {
    return this.options.engine.status().map((status) => {
      const source = this.sources.of(status.name);
      const scenario = source?.scenarios.find(({ name }) => name === status.name);
      return {
        ...status,
        file: source?.file ?? '',
        labels: scenario?.labels ?? {},
        problems: source?.problems ?? [],
      };
    });
  }

  /** The file a scenario stands in. @throws CsiError NOT_FOUND */
  find(name: string): Source {
    const source = this.sources.of(name);
    if (source) return source;
    const names = new Set(
      this.sources.all().flatMap((one) => one.source.scenarios.map((scenario) => scenario.name)),
    );
    throw notFound(`no scenario ${JSON.stringify(name)}; loaded: ${[...names].join(', ') || 'none'}`);
  }

  /**
   * Puts scenarios into the shared folder, one file each, in place of those of the same names; they act when this
   * returns, here, and soon in the other processes.
   * @throws ScenarioProblems
   */
  async put(text: string, file = 'scenario.yaml'): Promise<string[]> {
    const { scenarios, texts, problems } = language().parseScenarios(text, file);
    if (problems.some(({ severity }) => severity === 'error')) throw new ScenarioProblems(problems);
    for (const { name } of scenarios) {
      const there = this.sources.of(name);
      if (there && !there.shared && !this.sources.rests(there.file))
        throw new ScenarioProblems([
          problemOf(
            file,
            `the name "${name}" is used already by ${there.file}, which this process was started with; choose another name`,
          ),
        ]);
    }
    const at = new Date(this.options.clock.now()).toISOString();
    await this.change(async (switches) => {
      for (const [index, { name }] of scenarios.entries()) {
        await writeFileAtomic(
          path.join(this.options.folder, `${name}.yaml`),
          texts[index] ?? text,
          'durable',
        );
        // The same text begins anew, too: by its file alone no process could tell that it was put again.
        switches.scenarios[name] = { at };
        this.machines.forget(switches, name);
      }
    });
    return scenarios.map(({ name }) => name);
  }

  /** @throws CsiError NOT_FOUND; Error when it is not in the shared folder. */
  async remove(name: string): Promise<void> {
    const source = this.find(name);
    if (!source.shared)
      throw new Error(
        `scenario ${name} comes from ${source.file}, which this process was started with; disarm it instead`,
      );
    await this.change((switches) => {
      removeFile(source.file);
      delete switches.scenarios[name];
    });
  }

  /** Arms from now on, as if it had just been loaded. @throws CsiError NOT_FOUND */
  async arm(name: string): Promise<void> {
    this.find(name);
    const at = new Date(this.options.clock.now()).toISOString();
    await this.change((switches) => {
      switches.scenarios[name] = { armed: true, at };
      this.machines.forget(switches, name);
    });
  }

  /** It acts no more, and lets go of what it holds. @throws CsiError NOT_FOUND */
  async disarm(name: string): Promise<void> {
    this.find(name);
    const at = new Date(this.options.clock.now()).toISOString();
    await this.change((switches) => {
      switches.scenarios[name] = { armed: false, at };
    });
  }

  /** In every process. @throws CsiError NOT_FOUND; Error when it was done here and cannot be told to the others. */
  async reset(name?: string): Promise<void> {
    if (name !== undefined) this.find(name);
    await this.changeOrHere(
      (switches) => {
        ask(switches.resets, name);
        this.machines.forget(switches, name);
      },
      () => this.options.engine.reset(name),
    );
  }

  /**
   * In every process. @returns how many calls were let go of here.
   * @throws CsiError NOT_FOUND; Error when it was done here and cannot be told to the others.
   */
  async release(name?: string): Promise<number> {
    if (name !== undefined) this.find(name);
    const hung = this.options.engine.held
      .list()
      .filter((call) => call.kind === 'hang' && (name === undefined || call.scenario === name)).length;
    await this.changeOrHere(
      (switches) => {
        ask(switches.releases, name);
      },
      () => this.options.engine.release(name),
    );
    return hung;
  }

  private async change(edit: (switches: Switches) => void | Promise<void>): Promise<void> {
    await this.switches.change(edit);
    this.refresh();
  }

  /** For letting go, which must not need a disk that can be written: a full one may be what is being tested. */
  private async changeOrHere(edit: (switches: Switches) => void, here: () => void): Promise<void> {
    try {
      await this.change(edit);
    } catch (error) {
      here();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`done in this process; the others cannot be told: ${reason}`, { cause: error });
    }
  }

  /** Counters changed. */
  changed(): void {
    this.state.changed();
  }

  /** Writes the counters down now. */
  flush(): Promise<void> {
    return this.state.flush();
  }

  async stop(): Promise<void> {
    this.watcher.stop();
    await this.machines.settled();
    await this.flush();
  }
}
