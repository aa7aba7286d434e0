import { once } from '../../util/once';
import type { After, CounterKey, Scope, Stage, When } from '../model';
import type { RuleState, ScenarioState } from './armed';
import type { Count } from './counters';
import type { CallFacts, KeyMiss, Miss, NodeFacts } from './facts';
import { matchCall } from './matching';
import { draw } from './random';
import { scopeOf } from './scope';
import { type EventTimes, testAfter, untilAfter } from './timing';

/** A rule acts on a call. */
export interface Fire {
  readonly state: RuleState;
  readonly stage: Stage;
  /** The key it counted by. */
  readonly key: string;
  /** Of the calls that its key has seen: what its draws depend on. */
  readonly ordinal: number;
  /** The n-th fire of its stage for that key. */
  readonly nth: number;
}

export interface Decision {
  readonly fires: readonly Fire[];
  /** Rules about this method that did not fire, and why. */
  readonly misses: readonly Miss[];
}

export interface DecideWorld {
  now(): number;
  node(): NodeFacts;
  readonly events: EventTimes;
}

/** Which of the rules act on a call. Rules come in the order in which they are asked; counting happens here. */
export function decide(rules: readonly RuleState[], call: CallFacts, world: DecideWorld): Decision {
  const fires: Fire[] = [];
  const misses: Miss[] = [];
  const chosen = once(() => {
    const volume = call.volume();
    return volume?.parameters.scenario ?? volume?.attributes.scenario;
  });
  const scope = once(() => scopeOf(call, world.node));
  for (const state of rules) {
    const { scenario } = state.scenario;
    if (state.scenario.stopped !== undefined || state.scenario.expired(world.now())) continue;
    if (!state.scenario.armed && chosen() !== scenario.name) continue;
    const outcome = ask(state, call, scope, world);
    if ('key' in outcome && 'wanted' in outcome) {
      misses.push({ rule: state.name, ...outcome });
      continue;
    }
    fires.push(outcome);
    if (!state.rule.continue) break;
  }
  return { fires, misses };
}

function ask(state: RuleState, call: CallFacts, scope: () => Scope, world: DecideWorld): Fire | KeyMiss {
  const { rule, counters } = state;
  const missed = matchCall(rule.match, call, scope) ?? testTime(state, call, world);
  if (missed) return missed;
  const key = keyOf(rule.when.per, call);
  const count = counters.of(key);
  count.seen += 1;
  const ordinal = count.seen;
  const turn = testOrdinal(rule.when, count) ?? testLimits(state, call, world);
  if (turn) return turn;
  const { seed, name } = state.scenario.scenario;
  const { probability } = rule.when;
  if (probability !== undefined) {
    const drawn = draw(seed, name, rule.name, key, ordinal);
    if (drawn >= probability) return unlucky('when.probability', drawn, probability);
  }
  const index = chooseStage(state, count, key, ordinal);
  if (typeof index !== 'number') return index;
  const nth = (count.stages[index] ?? 0) + 1;
  count.stages[index] = nth;
  count.fired += 1;
  counters.fired += 1;
  state.scenario.fired += 1;
  if (call.volumeId !== undefined) state.scenario.volumes.add(call.volumeId);
  return { state, stage: rule.stages[index] as Stage, key, ordinal, nth };
}

/** Whether it is the rule's time, and the machines are in the states it waits for. Counts nothing. */
export function testTime(
  { rule, scenario, window }: RuleState,
  call: CallFacts,
  world: DecideWorld,
): KeyMiss | undefined {
  const { after, machine } = rule.when;
  const now = world.now();
  if (after) {
    const missed = testAfter(after, sinceOf(after, scenario, call, world), now);
    if (missed) return missed;
  }
  const outside = window?.test(now, scenario.armedAt);
  if (outside) return outside;
  for (const [name, states] of Object.entries(machine ?? {})) {
    const found = scenario.machines.get(name) ?? 'nothing';
    if (!states.includes(found)) return { key: `when.machine.${name}`, found, wanted: states.join(' or ') };
  }
  return undefined;
}

/** Wall time of what `after` counts from; undefined when it has not been. */
function sinceOf(
  { event }: After,
  { armedAt, scenario }: ScenarioState,
  call: CallFacts,
  { events }: DecideWorld,
): number | undefined {
  if (event === undefined) return armedAt;
  return events.of(eventKey(event, scenario.name, call), event) ?? recorded(event, call);
}

/** An attach is an event of the controller's process, and the rule that waits for it may be asked in a node's. */
function recorded(event: string, call: CallFacts): number | undefined {
  return event === 'created' || event === 'attached' ? call.volume()?.since?.[event] : undefined;
}

/** Milliseconds until `testTime` can say something else by the passing of time alone; undefined: never. */
export function untilOtherTime(
  { rule: { when }, scenario, window }: RuleState,
  call: CallFacts,
  world: DecideWorld,
): number | undefined {
  const now = world.now();
  const found = [
    window?.untilChange(now, scenario.armedAt),
    when.after && untilAfter(when.after, sinceOf(when.after, scenario, call, world), now),
  ].filter((ms) => ms !== undefined);
  return found.length > 0 ? Math.min(...found) : undefined;
}

/** Events of a volume are its own; `fired:` is told of the rule, for whatever volume. */
export function eventKey(event: string, scenario: string, call: { volumeId: string | undefined }): string {
  return event.startsWith('fired:') ? `scenario ${scenario}` : (call.volumeId ?? '');
}

function testOrdinal(when: When, { seen, fired }: Count): KeyMiss | undefined {
  const found = `call ${seen}`;
  const { skip = 0, nth, every, times } = when;
  if (seen <= skip) return { key: 'when.skip', found, wanted: `after the first ${skip}` };
  const ordinal = seen - skip;
  if (nth && !nth.test(ordinal)) return { key: 'when.nth', found, wanted: nth.source };
  if (every !== undefined && ordinal % every !== 0)
    return { key: 'when.every', found, wanted: `every ${every}` };
  if (times !== undefined && fired >= times)
    return { key: 'when.times', found: `${fired} before it`, wanted: `fewer than ${times}` };
  return undefined;
}

function testLimits({ scenario }: RuleState, call: CallFacts, world: DecideWorld): KeyMiss | undefined {
  const { maxFired, maxActive, maxVolumes, stopIf } = scenario.scenario.limits;
  const limit = (key: string, found: number, most: number | undefined): KeyMiss | undefined =>
    most !== undefined && found >= most
      ? { key: `limits.${key}`, found: `${found} before it`, wanted: `fewer than ${most}` }
      : undefined;
  const isNew = call.volumeId !== undefined && !scenario.volumes.has(call.volumeId);
  const reached =
    limit('maxFired', scenario.fired, maxFired) ??
    limit('maxActive', scenario.active, maxActive) ??
    (isNew ? limit('maxVolumes', scenario.volumes.size, maxVolumes) : undefined);
  if (reached) return reached;
  for (const condition of stopIf) {
    const more = {
      scenario: { name: scenario.scenario.name, fired: scenario.fired, active: scenario.active },
    };
    if (condition.evaluate(scopeOf(call, world.node, more)) !== true) continue;
    scenario.stopped = `stopIf ${condition.source}`;
    return { key: 'limits.stopIf', found: 'true', wanted: `not ${condition.source}` };
  }
  return undefined;
}

/** As with FreeBSD's fail(9): what does not act, used up or by chance, leaves it to the next in the list. */
function chooseStage(
  { rule, scenario: { scenario } }: RuleState,
  count: Count,
  key: string,
  ordinal: number,
): number | KeyMiss {
  let missed: KeyMiss | undefined;
  for (const [index, stage] of rule.stages.entries()) {
    if (stage.count !== undefined && (count.stages[index] ?? 0) >= stage.count) continue;
    if (stage.probability === undefined) return index;
    const drawn = draw(scenario.seed, scenario.name, rule.name, key, ordinal, index);
    if (drawn < stage.probability) return index;
    missed = unlucky(`sequence.${index}`, drawn, stage.probability);
  }
  return (
    missed ?? { key: 'sequence', found: `at its end, ${count.fired} fired`, wanted: 'a stage that is left' }
  );
}

function unlucky(key: string, drawn: number, probability: number): KeyMiss {
  return { key, found: `drew ${drawn.toFixed(3)}`, wanted: `less than ${probability}` };
}

function keyOf(per: CounterKey, call: CallFacts): string {
  switch (per) {
    case 'rule':
      return '';
    case 'node':
      return call.nodeId;
    case 'volume':
      return call.volumeId ?? '';
    case 'pod': {
      const pod = call.pod();
      return pod?.uid ?? `${pod?.namespace ?? ''}/${pod?.name ?? ''}`;
    }
  }
}
