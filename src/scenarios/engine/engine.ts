import { methods as ALL_METHODS, type Method } from '../../csi/rpcs';
import type { Clock } from '../../util/clock';
import type { Action, DiskCondition, LifecycleEvent, Place, Scenario, Step } from '../model';
import { perform } from './actions';
import type { ActionCall, ProcessControl, RegistrationControl } from './actions/action';
import type { RuleState, SavedScenario, ScenarioState } from './armed';
import { type DecideWorld, type Decision, decide, type Fire, testTime, untilOtherTime } from './decide';
import type { CallFacts, NodeFacts } from './facts';
import { HeldCalls } from './held';
import { EXPIRED, type Loaded, ScenarioSet, type ScenarioStatus } from './scenario-set';
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
  /** Waits for what no call waits for: ends of scenarios, times of rules. Left out: `clock`. */
  timers?: Clock;
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

/** The rules of all loaded scenarios, and what they do to calls. Knows methods and plain objects, never gRPC. */
export class Engine {
  readonly held: HeldCalls;
  private readonly scenarios: ScenarioSet;
  private byMethod = new Map<Method, readonly RuleState[]>();
  private readonly events = new EventTimes();
  private readonly timed: TimedRules;
  /** Fires so far, by `scenario/rule`; never set back. For metrics. */
  readonly totals = new Map<string, number>();

  constructor(private readonly options: EngineOptions) {
    const { clock, timers = clock, event } = options;
    this.held = new HeldCalls(clock);
    this.scenarios = new ScenarioSet({ clock: timers, event, letGoOf: (name) => this.letGoOf(name) });
    const call = this.callOfTime();
    const world = this.world();
    this.timed = new TimedRules({
      clock: timers,
      holds: (state) => isActive(state.scenario, world.now()) && testTime(state, call, world) === undefined,
      untilChange: (state) => untilOtherTime(state, call, world),
      began: (state) => this.actByTime(state),
      ended: ({ rule, scenario }) => options.registration?.windowClosed(scenario.scenario.name, rule.name),
    });
  }

  /** Makes these the loaded scenarios, all at once. What did not change goes on counting. */
  load(loaded: readonly Loaded[], saved: Readonly<Record<string, SavedScenario>> = {}): void {
    this.scenarios.replace(loaded, saved);
    this.index();
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
      throw new Error(`no scenario ${scenarioName}; loaded: ${this.scenarios.names().join(', ') || 'none'}`);
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
    if (!machines?.has(machine)) return;
    machines.set(machine, state);
    this.timed.look();
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
    for (const state of this.scenarios.values()) {
      const { name } = state.scenario;
      if (scenario !== undefined && scenario !== name) continue;
      this.letGoOf(name);
      // What has expired is over: only arming it begins it anew.
      if (state.stopped !== EXPIRED) state.reset(this.options.clock.now());
    }
    if (scenario === undefined) this.events.clear();
    this.scenarios.watchExpiry();
    this.timed.look();
    this.options.event('reset', scenario === undefined ? {} : { scenario });
    this.options.changed();
  }

  private letGoOf(scenario: string): void {
    this.held.release((call) => call.scenario === scenario);
    this.options.registration?.heal(scenario);
  }

  status(): ScenarioStatus[] {
    return this.scenarios.status();
  }

  scenario(name: string): Scenario | undefined {
    return this.scenarios.get(name)?.scenario;
  }

  save(): Record<string, SavedScenario> {
    return this.scenarios.save();
  }

  /** Lets go of everything and watches nothing any more. */
  close(): void {
    this.scenarios.close();
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
