import type { Delay } from '../../model';
import type { Fire } from '../decide';
import { draw, normal } from '../random';
import type { Perform } from './action';

export const delay: Perform<'delay'> = async (action, { fire, call, signal, clock, held }) => {
  const ms = lengthOf(action.delay, fire, clock.now());
  const { scenario } = fire.state.scenario;
  call.effect(`delayed ${Math.round(ms)} ms by ${fire.state.name}`);
  await held.hold({
    call: call.id,
    method: call.method,
    volumeId: call.volumeId,
    scenario: scenario.name,
    rule: fire.state.rule.name,
    kind: 'delay',
    ms,
    signal,
  });
};

/** Milliseconds. A draw depends on the call's ordinal only, so that a replay waits as long as the first run did. */
export function lengthOf(delay: Delay, { state, key, ordinal }: Fire, now: number): number {
  const { seed, name } = state.scenario.scenario;
  const drawn = (which: string) => draw(seed, name, state.rule.name, key, ordinal, which);
  switch (delay.kind) {
    case 'fixed':
      return delay.ms;
    case 'uniform':
      return delay.fromMs + drawn('uniform') * (delay.toMs - delay.fromMs);
    case 'lognormal': {
      const ms = delay.medianMs * Math.exp(delay.sigma * normal(drawn('radius'), drawn('angle')));
      return Math.min(ms, delay.maxMs ?? Number.POSITIVE_INFINITY);
    }
    case 'ramp': {
      const step = Math.floor((now - state.scenario.armedAt) / delay.everyMs);
      const { stepsMs } = delay;
      return stepsMs[Math.max(0, Math.min(step, stepsMs.length - 1))] ?? 0;
    }
  }
}
