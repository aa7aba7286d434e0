import { Code, CsiError } from '../csi/status';
import type { Driver } from '../server/driver';
import type { Clock } from '../util/clock';
import { assertionError } from './assertion';
import type { CallQueries } from './calls';
import { type Duration, milliseconds } from './duration';
import type { Fires } from './fires';
import type { ScenarioText } from './scenario-source';

/** @internal What handles need of the driver they are for. */
export interface Owner {
  driver(): Promise<Driver>;
  /** Nothing of it is left to change. */
  readonly isStopped: boolean;
  readonly fires: Fires;
  readonly queries: CallQueries;
  readonly clock: Clock;
}

export interface FireOptions {
  /** How often (default 1). */
  times?: number;
  /** Default: 5s. */
  within?: Duration;
}

/** Scenarios that were put into a driver, until they are removed. `await using` removes them. */
export class ScenarioHandle implements AsyncDisposable {
  private readonly owner: Owner;
  private readonly rules: readonly string[];
  /** In the order of the text. */
  readonly names: readonly string[];
  private readonly before: number;

  /** @internal */
  constructor(owner: Owner, scenarios: readonly ScenarioText[]) {
    this.owner = owner;
    this.names = scenarios.map(({ name }) => name);
    this.rules = scenarios.flatMap(({ rules }) => rules);
    this.before = this.count();
  }

  /** Of the first one. */
  get name(): string {
    return this.names[0] ?? '';
  }

  private count(): number {
    const counts = this.owner.fires.counts();
    return this.rules.reduce((sum, rule) => sum + (counts.get(rule) ?? 0), 0);
  }

  /** How often its rules have fired since it was put there, or since `reset()`: counted as a call arrives. */
  get fired(): number {
    const count = this.count();
    return count >= this.before ? count - this.before : count;
  }

  /** @throws AssertionError when the time is up, with the calls that came and why it did not fire for them */
  async waitForFire({ times = 1, within = '5s' }: FireOptions = {}): Promise<void> {
    const { fires, clock, queries } = this.owner;
    const patience = new AbortController();
    let unsubscribe = () => {};
    const fired = new Promise<void>((resolve) => {
      const look = () => {
        if (this.fired >= times) resolve();
      };
      unsubscribe = fires.subscribe(look);
      look();
    });
    try {
      const timeUp = clock.sleep(milliseconds(within, 'within'), patience.signal).catch(() => undefined);
      await Promise.race([fired, timeUp]);
    } finally {
      patience.abort();
      unsubscribe();
    }
    // What the rule does begins in the same turn in which it fires.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.fired >= times) return;
    throw assertionError([
      `rule ${this.rules.join(', ')} fired ${this.fired} of ${times} times within ${within}${typeof within === 'number' ? 'ms' : ''}`,
      ...queries.missesOf(this.rules),
    ]);
  }

  /** Acts again, from the beginning. */
  async arm(): Promise<void> {
    const { scenarios } = await this.owner.driver();
    for (const name of this.names) await scenarios.arm(name);
  }

  /** Acts no more, and lets go of the calls that it holds. */
  async disarm(): Promise<void> {
    const { scenarios } = await this.owner.driver();
    for (const name of this.names) await scenarios.disarm(name);
  }

  /** Takes it out and lets go of the calls that it holds; done already: nothing. */
  async remove(): Promise<void> {
    if (this.owner.isStopped) return;
    const { scenarios } = await this.owner.driver();
    for (const name of this.names)
      await scenarios.remove(name).catch((error: unknown) => {
        if (!(error instanceof CsiError && error.code === Code.NOT_FOUND)) throw error;
      });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }
}
