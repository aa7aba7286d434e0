import type { Bench } from './bench';
import { listing } from './controller-rules';
import type { Observation } from './expectation';
import { expectationOf, explain } from './judge';
import { type Operation, type Step, show } from './operations';
import { EMPTY, type State } from './state';

/** What was done, over many sequences. */
export class Tally {
  calls = 0;
  sequences = 0;
  /** How often a method was answered with a code: `CreateVolume OK`. */
  readonly answers = new Map<string, number>();

  add({ operation, code }: Observation): void {
    this.calls += 1;
    const key = `${operation.rpc} ${code}`;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
  }
}

/** A listing that goes on over several steps. */
interface Cursor {
  token: string;
  /** What was there when it began, and has been there ever since. */
  due: Set<string>;
  seen: string[];
}

/** The driver did something that no specification explains. */
export class Contradiction extends Error {
  constructor(
    transcript: readonly string[],
    problem: string,
    /** How many steps were taken, the failing one among them. */
    readonly taken: number,
  ) {
    super([...transcript, `=> ${problem}`].join('\n'));
  }
}

/** Plays one sequence from nothing to nothing and holds every answer, and what is left, against the model. */
export class Play {
  private states: State[] = [EMPTY];
  private readonly cursors = new Map<string, Cursor>();
  /** Lines of the failure's message, if there is to be one. */
  private readonly transcript: (() => string)[] = [];
  private taken = 0;

  constructor(
    private readonly bench: Bench,
    private readonly tally: Tally,
  ) {}

  /** @throws Contradiction */
  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      this.taken += 1;
      await this.take(step);
    }
    await this.check();
    await this.takeDown();
    await this.check();
    this.tally.sequences += 1;
  }

  private fail(problem: string): never {
    throw new Contradiction(
      this.transcript.map((line) => line()),
      problem,
      this.taken,
    );
  }

  private take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'call':
        return this.call([step.operation]);
      case 'together':
        return this.call(step.operations);
      case 'page':
        return this.page(step.of, step.max);
      case 'restart':
        return this.restart(step.killed);
    }
  }

  private async call(operations: readonly Operation[]): Promise<void> {
    const { csi } = this.bench.driver;
    const observations = await Promise.all(
      operations.map((one) =>
        this.bench.sender.send(csi, one).catch((error: Error) => this.fail(`${show(one)}: ${error.message}`)),
      ),
    );
    for (const observation of observations) {
      this.tally.add(observation);
      const { operation, code } = observation;
      this.transcript.push(() => `${observations.length > 1 ? '| ' : ''}${show(operation)} -> ${code}`);
    }
    const { states, problem } = explain(this.states, observations, this.bench.plugin);
    if (states.length === 0) this.fail(problem);
    this.states = states;
    this.forgetDeleted();
  }

  /** What has been deleted since a listing began is not due any more. */
  private forgetDeleted(): void {
    for (const [of, { due }] of this.cursors)
      for (const name of due)
        if (!this.states.every((state) => state[of as 'volumes' | 'snapshots'].has(name))) due.delete(name);
  }

  private async page(of: 'volumes' | 'snapshots', max: number): Promise<void> {
    const begun = this.cursors.get(of);
    const cursor = begun ?? { token: '', due: this.certain(of), seen: [] };
    this.cursors.set(of, cursor);
    const { found, token } = await this.bench.sender.page(this.bench.driver.csi, of, max, cursor.token);
    this.tally.calls += 1;
    this.transcript.push(
      () => `page of ${of} (${max}) -> ${found.join(' ')}${token === '' ? ' and no more' : ''}`,
    );
    if (found.length > max) this.fail(`expected at most ${max} entries, found ${found.length}`);
    for (const name of found) {
      if (!this.states.some((state) => state[of].has(name)))
        this.fail(`${name} is listed and does not exist`);
      // One that was deleted and made again since may come again.
      if (cursor.seen.includes(name) && cursor.due.has(name)) this.fail(`${name} is listed twice`);
    }
    cursor.seen.push(...found);
    cursor.token = token;
    if (token !== '') return;
    this.cursors.delete(of);
    const missing = [...cursor.due].filter((name) => !cursor.seen.includes(name));
    if (missing.length > 0) this.fail(`${missing.join(' ')} was there all along and is not listed`);
  }

  /** What is there in whichever state the plugin may be. */
  private certain(of: 'volumes' | 'snapshots'): Set<string> {
    const [first = EMPTY] = this.states;
    return new Set([...first[of].keys()].filter((name) => this.states.every((state) => state[of].has(name))));
  }

  private async restart(killed: boolean): Promise<void> {
    await this.bench.restart(killed);
    this.transcript.push(() => (killed ? 'killed and started' : 'stopped and started'));
  }

  /** What is on the machine and what the plugin lists must be the state, no more and no less. */
  private async check(): Promise<void> {
    await this.call([{ rpc: 'ListVolumes', max: 0 }]);
    await this.call([{ rpc: 'ListSnapshots', max: 2, s: '', v: '' }]);
    await this.call([{ rpc: 'GetCapacity' }]);
    const [first = EMPTY] = this.states;
    for (const g of first.groups.keys())
      await this.call([{ rpc: 'GetVolumeGroupSnapshot', g, members: 'own' }]);
    const problems = [];
    const explained: State[] = [];
    for (const state of this.states) {
      const left = await this.bench.leftovers(state);
      if (left.length === 0) explained.push(state);
      else problems.push(left.join('; '));
    }
    if (explained.length === 0) this.fail(problems.join(' or '));
    this.states = explained;
  }

  /** The calls by which a CO takes everything down, in an order in which each of them must succeed. */
  private async takeDown(): Promise<void> {
    const [state = EMPTY] = this.states;
    const all: Operation[] = [
      ...[...state.publications].map(
        ([target, { v }]): Operation => ({ rpc: 'NodeUnpublishVolume', v, target }),
      ),
      ...[...state.stages].map(([v, { at }]): Operation => ({ rpc: 'NodeUnstageVolume', v, at })),
      ...[...state.volumes.keys()].flatMap((v): Operation[] => [
        { rpc: 'ControllerUnpublishVolume', v, node: '' },
        { rpc: 'ControllerModifyVolume', v, changes: { deletionProtection: 'false' } },
      ]),
      ...[...state.groups.keys()].map(
        (g): Operation => ({ rpc: 'DeleteVolumeGroupSnapshot', g, members: 'own' }),
      ),
      ...inOrder(state),
    ];
    for (const operation of all) {
      const settled = { plugin: this.bench.plugin, changing: new Set<string>() };
      if (
        !('members' in operation) &&
        expectationOf(this.states[0] ?? EMPTY, operation, settled).refusals.length > 0
      )
        this.fail(`${show(operation)}: the model itself cannot take this down`);
      await this.call([operation]);
    }
    if (
      !this.states.every(
        (left) =>
          listing(
            [],
            [...left.volumes.keys()].map((v) => ({ v })),
            'v',
          ) === undefined,
      )
    )
      this.fail('volumes are left after everything was taken down');
  }
}

/** Volumes that came from dependent snapshots, then those, then what they were cut from. */
function inOrder(state: State): Operation[] {
  const volumes = new Map(state.volumes);
  const snapshots = new Map([...state.snapshots].filter(([, { group }]) => group === ''));
  const found: Operation[] = [];
  while (volumes.size + snapshots.size > 0) {
    const before = found.length;
    for (const v of volumes.keys()) {
      if ([...snapshots.values()].some(({ of, dependent }) => dependent && of === v)) continue;
      volumes.delete(v);
      found.push({ rpc: 'DeleteVolume', v });
    }
    for (const [s, { dependent }] of snapshots) {
      const used = [...volumes.values()].some(
        ({ source, dependsOnSource }) => dependsOnSource && source?.of === s,
      );
      if (dependent && used) continue;
      snapshots.delete(s);
      found.push({ rpc: 'DeleteSnapshot', s });
    }
    // A volume and a dependent snapshot may need each other: neither can be deleted, by the rules.
    if (found.length === before) return found;
  }
  return found;
}
