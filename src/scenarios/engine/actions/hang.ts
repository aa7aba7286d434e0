import type { Perform } from './action';

/** A call without a deadline of its own hangs no longer than this, unless its scenario says so. */
export const DEFAULT_MAX_HANG_MS = 10 * 60_000;

export const hang: Perform<'hang'> = async ({ until }, { fire, call, signal, held }) => {
  const { scenario } = fire.state.scenario;
  const limit = scenario.limits.maxHangMs ?? DEFAULT_MAX_HANG_MS;
  const ms = until.kind === 'time' ? Math.min(until.ms, limit) : limit;
  call.effect(`hung by ${fire.state.name}`);
  const end = await held.hold({
    call: call.id,
    method: call.method,
    volumeId: call.volumeId,
    scenario: scenario.name,
    rule: fire.state.rule.name,
    kind: 'hang',
    ms,
    signal,
  });
  call.effect(end === 'released' ? 'let go' : `let go after ${ms} ms`);
};
