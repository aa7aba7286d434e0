import { controllerRules } from './controller-rules';
import type { Expectation, Observation, Rules, Surroundings } from './expectation';
import { nodeRules } from './node-rules';
import { type Operation, show, subjects } from './operations';
import { snapshotRules } from './snapshot-rules';
import { fingerprint, type Plugin, promised, type State } from './state';

const rules: Rules = { ...controllerRules, ...snapshotRules, ...nodeRules };

export function expectationOf(state: State, operation: Operation, surroundings: Surroundings): Expectation {
  const rule = rules[operation.rpc] as (s: State, o: Operation, around: Surroundings) => Expectation;
  return rule(state, operation, surroundings);
}

/** What a call did to the state, or what is wrong with it. */
type Verdict = { next: State; or?: State } | { problem: string };

/**
 * The states that a plugin may be in after what was seen, when it was in one of `before`: every order in which calls that
 * were sent together can have taken effect one after the other.
 * @returns no state when no order explains what was seen, and why not.
 */
export function explain(
  before: readonly State[],
  observations: readonly Observation[],
  plugin: Plugin,
): { states: State[]; problem: string } {
  const found: State[] = [];
  const batch = new Batch(observations, plugin);
  const problems = new Set<string>();
  const search = (state: State, left: readonly Observation[]) => {
    if (left.length === 0) {
      found.push(state);
      return;
    }
    for (const one of left) {
      const verdict = batch.judge(state, one);
      if ('problem' in verdict) problems.add(`${show(one.operation)}: ${verdict.problem}`);
      else {
        const rest = left.filter((other) => other !== one);
        for (const next of [verdict.next, verdict.or]) if (next) search(next, rest);
      }
    }
  };
  for (const state of before) search(state, observations);
  const problem = [...problems].join('; or ') || 'no call was made';
  return {
    states: distinct(found),
    problem: observations.length > 1 ? `in no order: ${problem}` : problem,
  };
}

/** Each once, however many orders lead to it. Most calls lead to one. */
function distinct(states: readonly State[]): State[] {
  if (states.length < 2) return [...states];
  return [...new Map(states.map((state) => [fingerprint(state), state])).values()];
}

class Batch {
  private readonly surroundings: Surroundings;

  constructor(
    private readonly observations: readonly Observation[],
    private readonly plugin: Plugin,
  ) {
    const changing = new Set<string>();
    if (observations.length > 1)
      for (const { operation } of observations)
        if (operation.rpc === 'CreateVolumeGroupSnapshot' || operation.rpc === 'DeleteVolumeGroupSnapshot')
          changing.add(operation.g);
    this.surroundings = { plugin, changing };
  }

  judge(state: State, observation: Observation): Verdict {
    const { operation, code, message } = observation;
    if (code === 'ABORTED' && this.isContended(operation)) return { next: state };
    if (this.isOfChangingGroup(operation)) return { next: state };
    const { refusals, next, complaint, orHalfDone } = expectationOf(state, operation, this.surroundings);
    if (code === 'RESOURCE_EXHAUSTED' && this.mayRunShort(state)) return { next: state };
    if (orHalfDone !== undefined && code === orHalfDone) return { next: state, ...(next && { or: next }) };
    if (refusals.length > 0) {
      if (code === 'OK') return { problem: `expected ${refusals.join(' or ')}, found OK` };
      return refusals.includes(code)
        ? { next: state }
        : { problem: `expected ${refusals.join(' or ')}, found ${code} (${message})` };
    }
    if (code !== 'OK') return { problem: `expected OK, found ${code} (${message})` };
    const wrong =
      this.isAlone || operation.rpc !== 'GetCapacity' ? complaint?.(observation.reply as never) : undefined;
    return wrong === undefined ? { next: next ?? state } : { problem: wrong };
  }

  private get isAlone(): boolean {
    return this.observations.length === 1;
  }

  /** Another call of the same moment is about the same thing. */
  private isContended(operation: Operation): boolean {
    const own = new Set(subjects(operation));
    return this.observations.some(
      (other) =>
        other.operation !== operation && subjects(other.operation).some((subject) => own.has(subject)),
    );
  }

  /** A member of a group that comes into being or goes: it may be there a moment before or after its group. */
  private isOfChangingGroup(operation: Operation): boolean {
    if (operation.rpc !== 'GetSnapshot' && operation.rpc !== 'GetMetadataAllocated') return false;
    return this.surroundings.changing.has(operation.s.split('/')[0] ?? '');
  }

  /** Bytes are set aside while something is made: calls of one moment may find none left, though one of them fails. */
  private mayRunShort(state: State): boolean {
    if (this.isAlone) return false;
    const { plugin } = this;
    let bytes = promised(state);
    for (const { operation } of this.observations) {
      const { next } = expectationOf(state, operation, this.surroundings);
      if (next && promised(next) > promised(state)) bytes += promised(next) - promised(state);
    }
    return bytes > plugin.pool;
  }
}
