import type { Clock } from '../../util/clock';
import type { Scenario } from '../model';
import { type SavedScenario, ScenarioState } from './armed';

/** A scenario as it is loaded: what it says, whether it is armed, and since when. */
export interface Loaded {
  readonly scenario: Scenario;
  /** Tells two texts apart: one that changed begins to count anew. */
  readonly fingerprint: string;
  readonly armed: boolean;
  /** Wall time of the arming. */
  readonly armedAt: number;
}

/** Why a scenario acts no more whose time is over. */
export const EXPIRED = 'expired';

export interface ScenarioStatus {
  name: string;
  armed: boolean;
  armedAt: string;
  expiresAt?: string;
  stopped?: string;
  fired: number;
  active: number;
  volumes: number;
  machines: Record<string, string>;
  rules: { name: string; fired: number }[];
}

export interface ScenarioSetOptions {
  clock: Clock;
  event(event: 'scenarioArmed' | 'scenarioDisarmed' | 'scenarioExpired', details: object): void;
  /** Calls that a scenario keeps waiting go on. */
  letGoOf(scenario: string): void;
}

/** The scenarios that are loaded, armed or not, and their ends. */
export class ScenarioSet {
  private scenarios = new Map<string, ScenarioState>();
  private expiry: AbortController | undefined;

  constructor(private readonly options: ScenarioSetOptions) {}

  get(name: string): ScenarioState | undefined {
    return this.scenarios.get(name);
  }

  /** In the order of loading. */
  values(): Iterable<ScenarioState> {
    return this.scenarios.values();
  }

  names(): string[] {
    return [...this.scenarios.keys()];
  }

  /** Makes these the loaded scenarios, all at once. What did not change goes on counting. */
  replace(loaded: readonly Loaded[], saved: Readonly<Record<string, SavedScenario>> = {}): void {
    const before = this.scenarios;
    const armedBefore = new Map(
      [...before.values()].flatMap((state) => (state.armed ? [[state, state.armedAt] as const] : [])),
    );
    this.scenarios = new Map(loaded.map((one) => [one.scenario.name, this.take(one, before, saved)]));
    for (const [name, state] of before) {
      const now = this.scenarios.get(name);
      if (now !== state) this.options.letGoOf(name);
      if (armedBefore.has(state) && !now?.armed) this.options.event('scenarioDisarmed', { scenario: name });
    }
    for (const [name, state] of this.scenarios)
      if (state.armed && armedBefore.get(state) !== state.armedAt)
        this.options.event('scenarioArmed', {
          scenario: name,
          armedAt: new Date(state.armedAt).toISOString(),
          rules: state.rules.map(({ rule: { name: rule, match } }) => ({
            name: rule,
            ...(match.methods && { methods: [...match.methods] }),
          })),
        });
    this.watchExpiry();
  }

  private take(
    { scenario, fingerprint, armed, armedAt }: Loaded,
    before: ReadonlyMap<string, ScenarioState>,
    saved: Readonly<Record<string, SavedScenario>>,
  ): ScenarioState {
    const known = before.get(scenario.name);
    if (known?.fingerprint === fingerprint) {
      // What ended by itself stays so until somebody arms it again.
      if (known.stopped !== undefined && armedAt <= known.armedAt) return known;
      // Armed again: from the beginning, like a new one.
      if (armed && (!known.armed || armedAt > known.armedAt)) known.reset(armedAt);
      if (!armed && known.armed) this.options.letGoOf(scenario.name);
      known.armed = armed;
      return known;
    }
    const state = new ScenarioState(scenario, fingerprint, armed, armedAt);
    const kept = Object.hasOwn(saved, scenario.name) ? saved[scenario.name] : undefined;
    if (kept?.fingerprint === fingerprint && kept.armedAt >= armedAt) state.restore(kept);
    if (state.stopped !== undefined) state.armed = false;
    return state;
  }

  /** Disarms what has expired also when no call comes to notice it: whoever hangs then must be let go. */
  watchExpiry(): void {
    this.expiry?.abort();
    const { clock, event, letGoOf } = this.options;
    const now = clock.now();
    const ends = [...this.scenarios.values()].flatMap(({ armed, armedAt, scenario }) =>
      armed && scenario.expiresMs !== undefined ? [armedAt + scenario.expiresMs] : [],
    );
    if (ends.length === 0) return;
    this.expiry = new AbortController();
    const { signal } = this.expiry;
    void clock.sleep(Math.max(0, Math.min(...ends) - now), signal).then(
      () => {
        for (const [name, state] of this.scenarios)
          if (state.armed && state.expired(clock.now())) {
            state.armed = false;
            state.stopped = EXPIRED;
            letGoOf(name);
            event('scenarioExpired', { scenario: name });
          }
        this.watchExpiry();
      },
      () => undefined,
    );
  }

  status(): ScenarioStatus[] {
    return [...this.scenarios.values()].map((state) => {
      const { scenario, armed, armedAt, stopped } = state;
      return {
        name: scenario.name,
        armed,
        armedAt: new Date(armedAt).toISOString(),
        ...(scenario.expiresMs !== undefined && {
          expiresAt: new Date(armedAt + scenario.expiresMs).toISOString(),
        }),
        ...(stopped !== undefined && { stopped }),
        fired: state.fired,
        active: state.active,
        volumes: state.volumes.size,
        machines: Object.fromEntries(state.machines),
        rules: state.rules.map(({ rule, counters }) => ({ name: rule.name, fired: counters.fired })),
      };
    });
  }

  save(): Record<string, SavedScenario> {
    return Object.fromEntries([...this.scenarios].map(([name, state]) => [name, state.save()]));
  }

  close(): void {
    this.expiry?.abort();
  }
}
