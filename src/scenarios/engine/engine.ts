import { methods as ALL_METHODS, type Method } from '../../csi/rpcs';
import type { Clock } from '../../util/clock';
import type { Action, DiskCondition, LifecycleEvent, Place, Scenario, Step } from '../model';
import { perform } from './actions';
import type { ActionCall, ProcessControl, RegistrationControl } from './actions/action';
import { type RuleState, type SavedScenario, ScenarioState } from './armed';
import { type DecideWorld, type Decision, decide, type Fire, testTime, untilOtherTime } from './decide';
import type { CallFacts, NodeFacts } from './facts';
import { HeldCalls } from './held';
import { actsByTime, TimedRules } from './timed-rules';
import { EventTimes } from './timing';

/** What the engine tells of itself, for the journal. */
export type EngineEvent =
  | 'scenarioArmed'
  | 'scenarioDisarmed'
  | 'scenarioExpired'
  | 'scenarioStopped'
  | 'machine'
  | 'reset'
  | 'released'
  /** A rule acted by time and not on a call. */
  | 'fired';

export interface EngineOptions {
  clock: Clock;
  process: ProcessControl;
  /** Left out: the driver does not register itself. */
  registration?: RegistrationControl | undefined;
  node(): NodeFacts;
  event(event: EngineEvent, details: object): void;
  /** Counters changed; whoever keeps them may do so soon. */
  changed(): void;
  /** A machine came into another state here; other processes want to know. */
  machineChanged(scenario: string, machine: string, state: string): void;
}

/** A scenario as it is loaded: what it says, whether it is armed, and since when. */
export interface Loaded {
  readonly scenario: Scenario;
  /** Tells two texts apart: one that changed begins to count anew. */
  readonly fingerprint: string;
  readonly armed: boolean;
  /** Wall time of the arming. */
  readonly armedAt: number;
}

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

/** The rules of all loaded scenarios, and what they do to calls. Knows methods and plain objects, never gRPC. */
export class Engine {
  readonly held: HeldCalls;
  private scenarios = new Map<string, ScenarioState>();
  private byMethod = new Map<Method, readonly RuleState[]>();
  private readonly events = new EventTimes();
  private expiry: AbortController | undefined;
  private readonly timed: TimedRules;
  /** Fires so far, by `scenario/rule`; never set back. For metrics. */
  readonly totals = new Map<string, number>();

  constructor(private readonly options: EngineOptions) {
    this.held = new HeldCalls(options.clock);
    const call = this.callOfTime();
    const world = this.world();
    this.timed = new TimedRules({
      clock: options.clock,
      holds: (state) => isActive(state.scenario, world.now()) && testTime(state, call, world) === undefined,
      untilChange: (state) => untilOtherTime(state, call, world),
      began: (state) => this.actByTime(state),
      ended: ({ rule, scenario }) => options.registration?.windowClosed(scenario.scenario.name, rule.name),
    });
  }

  /** Makes these the loaded scenarios, all at once. What did not change goes on counting. */
  load(loaded: readonly Loaded[], saved: Readonly<Record<string, SavedScenario>> = {}): void {
    const before = this.scenarios;
    const armedBefore = new Map(
      [...before.values()].flatMap((state) => (state.armed ? [[state, state.armedAt] as const] : [])),
    );
    this.scenarios = new Map(loaded.map((one) => [one.scenario.name, this.take(one, before, saved)]));
    for (const [name, state] of before) {
      const now = this.scenarios.get(name);
      if (now !== state) this.letGoOf(name);
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
    this.index();
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
      if (!armed && known.armed) this.letGoOf(scenario.name);
      known.armed = armed;
      return known;
    }
    const state = new ScenarioState(scenario, fingerprint, armed, armedAt);
    const kept = Object.hasOwn(saved, scenario.name) ? saved[scenario.name] : undefined;
    if (kept?.fingerprint === fingerprint && kept.armedAt >= armedAt) state.restore(kept);
    if (state.stopped !== undefined) state.armed = false;
    return state;
  }

  private index(): void {
    const all = [...this.scenarios.values()].flatMap(({ rules }) => rules);
    // Stable: among equals the order of loading.
    all.sort((a, b) => b.rule.priority - a.rule.priority);
    const byMethod = new Map<Method, RuleState[]>();
    const timed = new Set(all.filter(({ rule }) => actsByTime(rule)));
    if (this.options.registration) this.timed.watch([...timed]);
    for (const state of all.filter((one) => !timed.has(one)))
      for (const method of state.rule.match.methods ?? ALL_METHODS) {
        const list = byMethod.get(method);
        if (list) list.push(state);
        else byMethod.set(method, [state]);
      }
    this.byMethod = byMethod;
  }

  /** Disarms what has expired also when no call comes to notice it: whoever hangs then must be let go. */
  private watchExpiry(): void {
    this.expiry?.abort();
    const { clock, event } = this.options;
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
            state.stopped = 'expired';
            this.letGoOf(name);
            event('scenarioExpired', { scenario: name });
          }
        this.watchExpiry();
      },
      () => undefined,
    );
  }

  /** Whether any rule is about this method: if not, nothing needs to be found out about the call. */
  concerns(method: Method): boolean {
    return this.byMethod.has(method);
  }

  /** On a call's arrival, once. */
  decide(call: CallFacts): Decision {
    const decision = this.ask(this.byMethod.get(call.method) ?? [], call);
    if (decision.fires.length > 0) this.timed.look();
    return decision;
  }

  private ask(rules: readonly RuleState[], call: CallFacts): Decision {
    const decision = decide(rules, call, this.world());
    for (const { key, rule } of decision.misses) if (key === 'limits.stopIf') this.noteStopped(rule);
    for (const { state } of decision.fires) {
      this.totals.set(state.name, (this.totals.get(state.name) ?? 0) + 1);
      this.events.note(
        `scenario ${state.scenario.scenario.name}`,
        `fired:${state.rule.name}`,
        this.options.clock.now(),
      );
    }
    if (decision.fires.length > 0) this.options.changed();
    return decision;
  }

  private world(): DecideWorld {
    const { clock, node } = this.options;
    return { now: () => clock.now(), node, events: this.events };
  }

  /** What a rule looks at that acts by time. Its method is one of those it is about, for messages. */
  private callOfTime(): CallFacts {
    return {
      id: 0,
      method: 'GetInfo',
      nodeId: this.options.node().id,
      volumeId: undefined,
      volume: () => undefined,
      pod: () => undefined,
      plainRequest: () => ({}),
    };
  }

  private actByTime(state: RuleState): void {
    const effects: string[] = [];
    const { signal } = new AbortController();
    const call: ActionCall = { ...this.callOfTime(), signal, effect: (text) => effects.push(text) };
    const { fires } = this.ask([state], call);
    if (fires.length === 0) return;
    // Nobody waits for it: what it throws would be an answer, and there is no call.
    void this.run(fires, () => true, call, true)
      .catch((error: unknown) => effects.push(String(error)))
      .then(() => this.options.event('fired', { rule: state.name, effects }));
  }

  private noteStopped(rule: string): void {
    const state = [...this.scenarios.values()].find(({ rules }) => rules.some(({ name }) => name === rule));
    if (!state) return;
    this.letGoOf(state.scenario.name);
    this.options.event('scenarioStopped', { scenario: state.scenario.name, why: state.stopped });
    this.options.changed();
  }

  /**
   * Does the steps of a place, in order.
   * @param lasting the work goes on without the client: named points.
   * @throws CsiError an injected error, or the signal's reason.
   */
  async run(
    fires: readonly Fire[],
    at: (place: Place) => boolean,
    call: ActionCall,
    lasting: boolean,
  ): Promise<void> {
    for (const fire of fires)
      for (const step of fire.stage.steps) if (at(step.place)) await this.act(fire, step, call, lasting);
  }

  private async act(fire: Fire, { action }: Step, call: ActionCall, lasting: boolean): Promise<void> {
    const { clock, process, registration, node } = this.options;
    const { scenario } = fire.state;
    // Such a call is never answered, so that nothing else tells the journal of it.
    if (action.kind === 'process' && action.act.kind === 'exit')
      this.options.event('fired', { rule: fire.state.name, call: call.id });
    scenario.active += 1;
    try {
      await perform(action, {
        fire,
        call,
        signal: lasting ? undefined : call.signal,
        clock,
        held: this.held,
        process,
        registration,
        node,
        changeMachine: (machine, state) => this.setMachine(scenario.scenario.name, machine, state),
      });
    } finally {
      scenario.active -= 1;
    }
  }

  /** The disk conditions that a call's stage is to meet. */
  diskConditions(fires: readonly Fire[]): DiskCondition[] {
    return actionsOf(fires, 'disk').map(({ action }) => action.condition);
  }

  /** A call has ended: rules may wait for what it brought about. */
  ended(method: Method, volumeId: string | undefined, ok: boolean): void {
    if (!ok || volumeId === undefined) return;
    const event = EVENT_OF[method];
    if (event) this.events.note(volumeId, event, this.options.clock.now());
    if (method !== 'DeleteVolume') return;
    this.events.forget(volumeId);
    for (const { rules } of this.scenarios.values())
      for (const { rule, counters } of rules) if (rule.when.per === 'volume') counters.forget(volumeId);
  }

  /** @throws Error naming what there is, when there is no such scenario, machine or state. */
  setMachine(scenarioName: string, machine: string, state: string): void {
    const scenario = this.scenarios.get(scenarioName);
    if (!scenario)
      throw new Error(
        `no scenario ${scenarioName}; loaded: ${[...this.scenarios.keys()].join(', ') || 'none'}`,
      );
    if (!scenario.machines.has(machine))
      throw new Error(
        `scenario ${scenarioName} has no machine ${machine}; it has ${[...scenario.machines.keys()].join(', ') || 'none'}`,
      );
    scenario.machines.set(machine, state);
    this.options.event('machine', { scenario: scenarioName, machine, state });
    this.options.machineChanged(scenarioName, machine, state);
    this.timed.look();
    this.options.changed();
  }

  /** The same, told by another process; what is not loaded here is none of its business. */
  adoptMachine(scenarioName: string, machine: string, state: string): void {
    const machines = this.scenarios.get(scenarioName)?.machines;
    if (machines?.has(machine)) machines.set(machine, state);
  }

  /** Lets go of hung calls; delays run on. @returns how many. */
  release(scenario?: string): number {
    const count = this.held.release(
      (call) => call.kind === 'hang' && (scenario === undefined || call.scenario === scenario),
    );
    this.options.event('released', { calls: count, ...(scenario !== undefined && { scenario }) });
    return count;
  }

  /** Lets go of every call, sets every counter to nothing and every machine to its beginning. */
  reset(scenario?: string): void {
    for (const [name, state] of this.scenarios) {
      if (scenario !== undefined && scenario !== name) continue;
      state.reset(this.options.clock.now());
      this.letGoOf(name);
    }
    if (scenario === undefined) this.events.clear();
    this.watchExpiry();
    this.timed.look();
    this.options.event('reset', scenario === undefined ? {} : { scenario });
    this.options.changed();
  }

  private letGoOf(scenario: string): void {
    this.held.release((call) => call.scenario === scenario);
    this.options.registration?.heal(scenario);
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

  scenario(name: string): Scenario | undefined {
    return this.scenarios.get(name)?.scenario;
  }

  save(): Record<string, SavedScenario> {
    return Object.fromEntries([...this.scenarios].map(([name, state]) => [name, state.save()]));
  }

  /** Lets go of everything and watches nothing any more. */
  close(): void {
    this.expiry?.abort();
    this.timed.close();
    this.held.release();
  }
}

function isActive(state: ScenarioState, now: number): boolean {
  return state.armed && state.stopped === undefined && !state.expired(now);
}

export function actionsOf<K extends Action['kind']>(
  fires: readonly Fire[],
  kind: K,
): { action: Extract<Action, { kind: K }>; place: Place; fire: Fire }[] {
  return fires.flatMap((fire) =>
    fire.stage.steps.flatMap(({ action, place }) =>
      action.kind === kind ? [{ action: action as Extract<Action, { kind: K }>, place, fire }] : [],
    ),
  );
}

const EVENT_OF: Readonly<Partial<Record<Method, LifecycleEvent>>> = {
  CreateVolume: 'created',
  ControllerPublishVolume: 'attached',
  ControllerUnpublishVolume: 'detached',
  ControllerExpandVolume: 'expanded',
  NodeStageVolume: 'staged',
  NodeUnstageVolume: 'unstaged',
  NodePublishVolume: 'published',
  NodeUnpublishVolume: 'unpublished',
};
