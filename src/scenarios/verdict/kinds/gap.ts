import type { JournalCall } from '../../../journal/calls';
import type { ExpectationTest } from '../../model';
import { type Context, type Evaluator, formatMs, type Outcome, plural } from '../evaluator';
import { isOfMethod, missingKeys } from '../select';
import { volumeKey } from '../volume-key';

type Test = Extract<ExpectationTest, { kind: 'gap' }>;

interface Last {
  readonly call: JournalCall;
  /** From the call before it to it, when that one had failed: backoff starts anew after a success. */
  readonly gapMs: number | undefined;
}

/**
 * Times between the starts of successive calls for one volume. With a ratio, `max` is where growth ends (a backoff's
 * cap), and the tolerance is allowed on top of it too; without one it is a plain bound.
 */
export function gapEvaluator(test: Test, { volumes }: Context): Evaluator {
  const { calls, ratio, tolerance, minMs, maxMs } = test;
  const last = new Map<string, Last>();
  const gaps: number[] = [];
  let compared = 0;
  let wrong: { summary: string; evidence: JournalCall[] } | undefined;

  const check = (before: Last, call: JournalCall, gapMs: number): string | undefined => {
    const cap = maxMs === undefined ? undefined : ratio === undefined ? maxMs : maxMs * (1 + tolerance);
    if (minMs !== undefined && gapMs < minMs) return `${formatMs(gapMs)}, wanted at least ${formatMs(minMs)}`;
    if (cap !== undefined && gapMs > cap)
      return `${formatMs(gapMs)}, wanted at most ${formatMs(maxMs ?? cap)}`;
    if (ratio === undefined || before.gapMs === undefined || before.call.code === 'OK') return undefined;
    compared += 1;
    const wanted = Math.min(before.gapMs * ratio, maxMs ?? Number.POSITIVE_INFINITY);
    if (Math.abs(gapMs - wanted) <= wanted * tolerance) return undefined;
    const found = (gapMs / before.gapMs).toFixed(2);
    return `${formatMs(gapMs)}, ${found} times the ${formatMs(before.gapMs)} before, wanted ${ratio} ± ${Math.round(tolerance * 100)}% (call ${call.call})`;
  };

  return {
    call({ call }, change) {
      if (change !== 'received' || !isOfMethod(calls, call)) return;
      // Codes and messages are of answers: gaps are between all calls that are otherwise alike.
      const { code: _, message: __, fired: ___, ...arriving } = calls;
      if (missingKeys(arriving, call, volumes).length > 0) return;
      const key = volumeKey(call);
      const before = last.get(key);
      let gapMs: number | undefined;
      if (before) {
        gapMs = call.atMs - before.call.atMs;
        gaps.push(gapMs);
        if (gaps.length > 10) gaps.shift();
        const problem = check(before, call, gapMs);
        if (problem !== undefined)
          wrong ??= { summary: `a gap of ${problem}`, evidence: [before.call, call] };
      }
      last.set(key, { call, gapMs: before?.call.code === 'OK' ? undefined : gapMs });
    },
    outcome({ final }): Outcome {
      if (wrong) return { status: 'failed', ...wrong };
      const enough = ratio === undefined ? gaps.length > 0 : compared > 0;
      const seen = gaps.length === 0 ? 'no gap' : `gaps of ${gaps.map(formatMs).join(', ')}`;
      if (enough) return { status: 'passed', summary: seen };
      const need = ratio === undefined ? 'two calls' : 'three calls in a row, the first two failed,';
      return {
        status: final ? 'failed' : 'pending',
        summary: `${seen}; ${need} for one volume are needed (${plural(last.size, 'volume')} seen)`,
        evidence: [...last.values()].slice(-10).map(({ call }) => call),
      };
    },
  };
}
