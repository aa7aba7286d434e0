import { type FSWatcher, watch } from 'node:fs';
import * as path from 'node:path';
import { notFound } from '../../csi/status';
import type { Host } from '../../host/host';
import type { Clock } from '../../util/clock';
import { ensureFolder, errnoOf, removeFile, writeFileAtomic } from '../../util/files';
import type { Log } from '../../util/log';
import type { SavedScenario } from '../engine/armed';
import type { Engine, Loaded, ScenarioStatus } from '../engine/engine';
import type { Problem } from '../language';
import type { Scenario } from '../model';
import { documentsOf, filesAt, fingerprintOf, type Source, stampOf } from './source';
import { StateFile } from './state-file';
import { type Switches, SwitchesFile } from './switches';

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

/** Watching may miss a change (some mounts tell of none); this finds it. */
const LOOK_EVERY_MS = 2_000;
/** Editors and ConfigMap updates change several names at once. */
const SETTLE_MS = 30;
/** Its file goes when it expires: the rules of the command line. */
export const AD_HOC_LABEL = 'fake-csi/ad-hoc';

/** Where scenarios come from: read before the socket listens, and again whenever they change. */
export class Library {
  private readonly sources = new Map<string, Source>();
  private readonly switches: SwitchesFile;
  private readonly state: StateFile;
  /** Of the scenarios that are loaded, by name. */
  private readonly fingerprints = new Map<string, string>();
  /** When each text was first armed here, by fingerprint. */
  private readonly firstArmed = new Map<string, number>();
  private seen: Switches;
  private readonly watchers = new Map<string, FSWatcher>();
  private timers: NodeJS.Timeout[] = [];
  private clashes: Problem[] = [];
  private switchesStamp: string | undefined;
  /** Reloads that found something wrong. For metrics. */
  failures = 0;

  constructor(private readonly options: LibraryOptions) {
    const { folder, host, clock, engine, log } = options;
    this.switches = new SwitchesFile(folder, host, clock);
    this.state = new StateFile(
      path.join(folder, '.state', `${options.process}.json`),
      () => engine.save(),
      log,
    );
    this.seen = this.switches.read();
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
    const named = { '--scenario': places, '--gallery': this.gallery };
    for (const [option, given] of Object.entries(named))
      for (const place of given)
        if (stampOf(place) === undefined)
          throw new Error(`${option} ${place}: no such file or folder; give a YAML file or a folder of them`);
    this.read();
    const own = new Set(places.flatMap((place) => this.listed(place)));
    const wrong = this.problems().filter(({ severity, file }) => severity === 'error' && own.has(file));
    if (wrong.length > 0) throw new ScenarioProblems(wrong);
    this.load(this.state.read());
    this.watch();
  }

  private isShared(file: string): boolean {
    return path.dirname(file) === this.options.folder;
  }

  private get gallery(): readonly string[] {
    return this.options.gallery ?? [];
  }

  /** The gallery last: of two scenarios with one name the first is taken. */
  private places(): string[] {
    return [...this.options.places, this.options.folder, ...this.gallery];
  }

  /** Reads what changed. @returns whether anything did. */
  private read(): boolean {
    let changed = false;
    const present = new Set<string>();
    for (const place of this.places())
      for (const file of this.listed(place)) {
        const stamp = stampOf(file);
        if (stamp === undefined) continue;
        present.add(file);
        if (this.sources.get(file)?.stamp === stamp) continue;
        changed = true;
        this.readSource(file, stamp);
      }
    for (const file of this.sources.keys())
      if (!present.has(file)) {
        this.sources.delete(file);
        changed = true;
        this.options.event('scenarioReloaded', { file, removed: true });
      }
    return changed;
  }

  private listed(place: string): string[] {
    try {
      return filesAt(place);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  private readSource(file: string, stamp: string): void {
    const { event, log } = this.options;
    const before = this.sources.get(file);
    const { scenarios, problems } = language().parseScenarioFile(file);
    const failed = problems.some(({ severity }) => severity === 'error');
    this.sources.set(file, {
      file,
      shared: this.isShared(file),
      stamp,
      scenarios: failed ? (before?.scenarios ?? []) : scenarios,
      problems,
    });
    if (failed) this.failures += 1;
    const lines = problems.map(formatted);
    if (failed) {
      log.error({ file, problems: lines }, 'a scenario file is not used as it is; its last good text is');
      event('scenarioReloadFailed', { file, problems: lines });
    } else if (before) event('scenarioReloaded', { file, scenarios: scenarios.map(({ name }) => name) });
  }

  /** Hands the engine what is there now, as the switches say. */
  private load(saved: Record<string, SavedScenario> = {}): void {
    const { engine, clock } = this.options;
    this.clashes = [];
    const loaded = new Map<string, Loaded & { file: string; resting: boolean }>();
    for (const place of this.places()) {
      const resting = this.gallery.includes(place);
      for (const file of this.listed(place))
        for (const scenario of this.sources.get(file)?.scenarios ?? []) {
          const other = loaded.get(scenario.name);
          const enabled = scenario.enabled && !resting;
          if (!other) {
            const state = this.armed(scenario, enabled, saved[scenario.name], clock.now());
            loaded.set(scenario.name, { file, resting, ...state });
          } else if (other.file !== file && other.resting === resting)
            this.clashes.push({
              file,
              line: 1,
              column: 1,
              path: 'metadata.name',
              message: `the name "${scenario.name}" is used already by ${other.file}; rename one of them`,
              severity: 'error',
            });
        }
    }
    engine.load([...loaded.values()], saved);
    for (const { scenario, fingerprint } of loaded.values()) {
      if (!this.fingerprints.has(scenario.name) || this.fingerprints.get(scenario.name) !== fingerprint)
        this.adoptMachines(scenario.name, this.seen.machines[fingerprint] ?? {});
      this.fingerprints.set(scenario.name, fingerprint);
    }
    // Since when they are armed must outlive the process, or a time to live would begin anew with each of its lives.
    if (loaded.size > 0) this.state.changed();
  }

  private adoptMachines(scenario: string, states: Readonly<Record<string, string>>): void {
    for (const [machine, state] of Object.entries(states))
      this.options.engine.adoptMachine(scenario, machine, state);
  }

  private armed(scenario: Scenario, enabled: boolean, saved: SavedScenario | undefined, now: number): Loaded {
    const fingerprint = fingerprintOf(scenario);
    const turned = own(this.seen.scenarios, scenario.name);
    const first =
      this.firstArmed.get(fingerprint) ?? (saved?.fingerprint === fingerprint ? saved.armedAt : now);
    this.firstArmed.set(fingerprint, first);
    const at = turned ? Date.parse(turned.at) : 0;
    return {
      scenario,
      fingerprint,
      armed: turned?.armed ?? enabled,
      armedAt: turned?.armed ? Math.max(first, at) : first,
    };
  }

  /** Looks at once; what changed acts when this returns. Watching does the same by itself. */
  refresh(): void {
    const switched = this.readSwitches();
    if (this.read() || switched) {
      this.load();
      this.watch();
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
    if (now.resets.count > before.resets.count) engine.reset(now.resets.what || undefined);
    if (now.releases.count > before.releases.count) engine.release(now.releases.what || undefined);
    for (const [name, fingerprint] of this.fingerprints) {
      const known = before.machines[fingerprint] ?? {};
      const changed = Object.entries(now.machines[fingerprint] ?? {}).filter(
        ([machine, state]) => known[machine] !== state,
      );
      this.adoptMachines(name, Object.fromEntries(changed));
    }
  }

  /** A rule, or a person, put a machine into another state here: every process has to see it so. */
  shareMachine(scenario: string, machine: string, state: string): void {
    const fingerprint = this.fingerprints.get(scenario);
    if (fingerprint === undefined) return;
    const note = (switches: Switches) => {
      switches.machines[fingerprint] = { ...switches.machines[fingerprint], [machine]: state };
    };
    // Noted at once, so that what is read meanwhile does not take it back.
    note(this.seen);
    this.switches.change(note).catch((error: unknown) => {
      this.options.log.error(
        { scenario, machine, state, error: String(error) },
        'other processes cannot be told of the state of a machine',
      );
    });
  }

  /** The command line's own rules leave no file behind when their time is over. */
  private sweep(): void {
    const ended = new Set(
      this.options.engine.status().flatMap(({ name, stopped }) => (stopped === 'expired' ? [name] : [])),
    );
    for (const { file, shared, scenarios } of this.sources.values())
      if (shared && scenarios.every(({ name, labels }) => labels[AD_HOC_LABEL] === 'true' && ended.has(name)))
        if (scenarios.length > 0) removeFile(file);
  }

  private watch(): void {
    const { folder, places } = this.options;
    const own = [...places, ...this.gallery].flatMap((place) => [place, path.dirname(place)]);
    const wanted = new Set([folder, ...own]);
    for (const place of wanted) {
      if (this.watchers.has(place)) continue;
      try {
        const watcher = watch(place, { persistent: false }, () => this.soon());
        watcher.on('error', () => {
          watcher.close();
          this.watchers.delete(place);
        });
        this.watchers.set(place, watcher);
      } catch {
        // Not everything can be watched; looking now and then finds it.
      }
    }
    if (this.timers.length > 0) return;
    const timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    timer.unref();
    this.timers.push(timer);
  }

  private settling: NodeJS.Timeout | undefined;

  private soon(): void {
    this.settling ??= setTimeout(() => {
      this.settling = undefined;
      this.look();
    }, SETTLE_MS);
    this.settling.unref();
  }

  private look(): void {
    try {
      this.refresh();
    } catch (error) {
      this.options.log.error({ error: String(error) }, 'the scenarios cannot be looked at');
    }
  }

  /** Everything that is wrong with what is there now. */
  problems(): Problem[] {
    return [...[...this.sources.values()].flatMap(({ problems }) => problems), ...this.clashes];
  }

  list(): ScenarioSummary[] {
    return this.options.engine.status().map((status) => {
      const source = this.sourceOf(status.name);
      const scenario = source?.scenarios.find(({ name }) => name === status.name);
      return {
        ...status,
        file: source?.file ?? '',
        labels: scenario?.labels ?? {},
        problems: source?.problems ?? [],
      };
    });
  }

  private sourceOf(name: string): Source | undefined {
    for (const place of this.places())
      for (const file of this.listed(place)) {
        const source = this.sources.get(file);
        if (source?.scenarios.some((scenario) => scenario.name === name)) return source;
      }
    return undefined;
  }

  /** The file a scenario stands in. @throws CsiError NOT_FOUND */
  find(name: string): Source {
    const source = this.sourceOf(name);
    if (source) return source;
    const names = this.options.engine.status().map((status) => status.name);
    throw notFound(`no scenario ${JSON.stringify(name)}; loaded: ${names.join(', ') || 'none'}`);
  }

  /**
   * Puts scenarios into the shared folder, one file each, in place of those of the same names; they act when this
   * returns, here, and soon in the other processes.
   * @throws ScenarioProblems
   */
  async put(text: string, file = 'scenario.yaml'): Promise<string[]> {
    const { scenarios, problems } = language().parseScenarios(text, file);
    if (problems.some(({ severity }) => severity === 'error')) throw new ScenarioProblems(problems);
    for (const { name } of scenarios) {
      const there = this.sourceOf(name);
      if (there && !there.shared && !this.rests(there.file))
        throw new ScenarioProblems([
          {
            file,
            line: 1,
            column: 1,
            path: 'metadata.name',
            message: `the name "${name}" is used already by ${there.file}, which this process was started with; choose another name`,
            severity: 'error',
          },
        ]);
    }
    const documents = documentsOf(text);
    for (const [index, { name }] of scenarios.entries())
      await writeFileAtomic(
        path.join(this.options.folder, `${name}.yaml`),
        `${(documents[index] ?? text).replace(/^\n+/, '').trimEnd()}\n`,
        'durable',
      );
    await this.change((switches) => {
      for (const { name } of scenarios) delete switches.scenarios[name];
    });
    return scenarios.map(({ name }) => name);
  }

  private rests(file: string): boolean {
    const holds = (place: string) => this.listed(place).includes(file);
    return this.gallery.some(holds) && !this.options.places.some(holds);
  }

  /** @throws CsiError NOT_FOUND; Error when it is not in the shared folder. */
  async remove(name: string): Promise<void> {
    const source = this.find(name);
    if (!source.shared)
      throw new Error(
        `scenario ${name} comes from ${source.file}, which this process was started with; disarm it instead`,
      );
    removeFile(source.file);
    await this.change((switches) => {
      delete switches.scenarios[name];
    });
  }

  /** Arms from now on, as if it had just been loaded. @throws CsiError NOT_FOUND */
  async arm(name: string): Promise<void> {
    this.find(name);
    const at = new Date(this.options.clock.now()).toISOString();
    await this.change((switches) => {
      switches.scenarios[name] = { armed: true, at };
      this.forgetMachines(switches, name);
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

  private forgetMachines(switches: Switches, name: string | undefined): void {
    if (name === undefined) switches.machines = {};
    else delete switches.machines[this.fingerprints.get(name) ?? ''];
  }

  /** In every process. @throws CsiError NOT_FOUND */
  async reset(name?: string): Promise<void> {
    if (name !== undefined) this.find(name);
    await this.change((switches) => {
      switches.resets = { count: switches.resets.count + 1, what: name ?? '' };
      this.forgetMachines(switches, name);
    });
  }

  /** In every process. @returns how many calls were let go of here. */
  async release(name?: string): Promise<number> {
    if (name !== undefined) this.find(name);
    const hung = this.options.engine.held
      .list()
      .filter((call) => call.kind === 'hang' && (name === undefined || call.scenario === name)).length;
    await this.change((switches) => {
      switches.releases = { count: switches.releases.count + 1, what: name ?? '' };
    });
    return hung;
  }

  private async change(edit: (switches: Switches) => void): Promise<void> {
    await this.switches.change(edit);
    this.refresh();
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
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
    clearTimeout(this.settling);
    await this.flush();
  }
}

function formatted({ file, line, column, path: where, message }: Problem): string {
  return `${file}:${line}:${column}: ${where === '' ? '' : `${where}: `}${message}`;
}

function own<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** zod and yaml take a tenth of a second to load: only a process that has a scenario needs them. */
function language(): typeof import('../language') {
  return require('../language') as typeof import('../language');
}
