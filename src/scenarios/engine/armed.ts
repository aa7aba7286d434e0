import type { Rule, Scenario } from '../model';
import { Counters, type SavedCounts } from './counters';
import { WindowTest } from './timing';

/** One rule and what it remembers. */
export interface RuleState {
  readonly rule: Rule;
  /** `scenario/rule` */
  readonly name: string;
  readonly scenario: ScenarioState;
  readonly counters: Counters;
  readonly window: WindowTest | undefined;
}

/** What a process keeps of a scenario, so that its next life goes on counting where it stopped. */
export interface SavedScenario {
  fingerprint: string;
  armedAt: number;
  stopped?: string;
  fired: number;
  volumes: string[];
  machines: Record<string, string>;
  rules: Record<string, SavedCounts>;
}

/** A scenario that is loaded, armed or not, and all that it remembers. */
export class ScenarioState {
  readonly rules: readonly RuleState[];
  /** The state each machine is in. */
  readonly machines = new Map<string, string>();
  /** Different volumes that rules fired on. */
  readonly volumes = new Set<string>();
  fired = 0;
  /** Calls it keeps waiting now. */
  active = 0;
  /** Why it acts no more: it expired, or `stopIf` came true. */
  stopped: string | undefined;

  constructor(
    readonly scenario: Scenario,
    readonly fingerprint: string,
    public armed: boolean,
    /** Wall time, from which `after`, windows, ramps and `expires` count. */
    public armedAt: number,
  ) {
    this.rules = scenario.rules.map((rule) => ({
      rule,
      name: `${scenario.name}/${rule.name}`,
      scenario: this,
      counters: new Counters(rule),
      window: rule.when.window && new WindowTest(rule.when.window),
    }));
    this.resetMachines();
  }

  expired(now: number): boolean {
    const { expiresMs } = this.scenario;
    return expiresMs !== undefined && now - this.armedAt >= expiresMs;
  }

  /** As if it had just been armed. */
  reset(now: number): void {
    this.armedAt = now;
    this.stopped = undefined;
    this.fired = 0;
    this.volumes.clear();
    for (const { counters } of this.rules) counters.reset();
    this.resetMachines();
  }

  private resetMachines(): void {
    for (const [name, { initial }] of Object.entries(this.scenario.machines))
      this.machines.set(name, initial);
  }

  save(): SavedScenario {
    return {
      fingerprint: this.fingerprint,
      armedAt: this.armedAt,
      ...(this.stopped !== undefined && { stopped: this.stopped }),
      fired: this.fired,
      volumes: [...this.volumes],
      machines: Object.fromEntries(this.machines),
      rules: Object.fromEntries(this.rules.map(({ rule, counters }) => [rule.name, counters.save()])),
    };
  }

  restore(saved: SavedScenario): void {
    this.armedAt = saved.armedAt;
    this.stopped = saved.stopped;
    this.fired = saved.fired;
    for (const id of saved.volumes) this.volumes.add(id);
    for (const [name, state] of Object.entries(saved.machines))
      if (this.machines.has(name)) this.machines.set(name, state);
    for (const { rule, counters } of this.rules) counters.restore(saved.rules[rule.name] ?? {});
  }
}
