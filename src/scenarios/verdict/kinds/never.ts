import type { JournalCall } from '../../../journal/calls';
import type { ExpectationTest } from '../../model';
import { missSentence } from '../armed-rules';
import { type Context, type Evaluator, formatMs, type Outcome, type Start } from '../evaluator';
import { isSelected, needsAnswer } from '../select';

type Test = Extract<ExpectationTest, { kind: 'never' }>;

/** All volumes, for calls that are about none. */
const ALL = '';

/**
 * No such call, for a time (then that time has to pass) or until another call, volume by volume. Where `until` has come
 * for one volume and nothing was wrong, it holds; it may still fail for another one.
 */
export function neverEvaluator(test: Test, { volumes }: Context, start: Start): Evaluator {
  const { calls, forMs, until } = test;
  const endMs = forMs === undefined ? Number.POSITIVE_INFINITY : start.ms + forMs;
  const over = new Set<string>();
  const byAnswer = needsAnswer(calls);
  let broken: JournalCall | undefined;
  let untilCall: JournalCall | undefined;
  return {
    call({ call }, change, atMs) {
      if (broken || atMs > endMs) return;
      const key = call.volumeId ?? ALL;
      const told = byAnswer ? change === 'answered' : change === 'received';
      if (told && !over.has(key) && !over.has(ALL) && isSelected(calls, call, volumes)) broken = call;
      else if (until && change !== 'lost' && isSelected(until, call, volumes)) {
        over.add(key);
        untilCall ??= call;
      }
    },
    outcome({ nowMs, final }): Outcome {
      if (broken) {
        const [miss] = broken.misses;
        return {
          status: 'failed',
          summary: `call ${broken.call} (${broken.method}) came ${formatMs(broken.atMs - start.ms)} after the start`,
          evidence: [broken],
          ...(miss && { nearMiss: missSentence(miss, broken) }),
        };
      }
      if (untilCall)
        return {
          status: 'passed',
          summary: `none before call ${untilCall.call} (${untilCall.method})`,
          evidence: [untilCall],
        };
      const passed = nowMs - start.ms;
      if (forMs !== undefined) {
        if (passed >= forMs) return { status: 'passed', summary: `none for ${formatMs(forMs)}` };
        const summary = `none for ${formatMs(Math.max(0, passed))} so far; ${formatMs(forMs)} have to pass (--wait)`;
        return { status: 'pending', summary };
      }
      const yet = until ? ', and what it waits for has not come' : '';
      return { status: final ? 'passed' : 'pending', summary: `none${yet}` };
    },
  };
}
