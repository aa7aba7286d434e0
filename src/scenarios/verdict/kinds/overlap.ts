import type { JournalCall } from '../../../journal/calls';
import type { ExpectationTest } from '../../model';
import { type Context, type Evaluator, type Outcome, plural } from '../evaluator';
import { isOfMethod, missingKeys } from '../select';
import { volumeKey } from '../volume-key';

type Test = Extract<ExpectationTest, { kind: 'overlap' }>;

/**
 * No two calls for one volume in flight at once. A call is in flight until its answer, its process's end or, as its
 * client sees it, the client's deadline.
 */
export function overlapEvaluator(test: Test, { volumes }: Context): Evaluator {
  const running = new Map<string, Set<JournalCall>>();
  let total = 0;
  let wrong: { both: [JournalCall, JournalCall]; key: string } | undefined;
  return {
    call({ call }, change) {
      if (!isOfMethod(test.calls, call)) return;
      const key = volumeKey(call);
      const own = running.get(key);
      if (change !== 'received') {
        own?.delete(call);
        if (own?.size === 0) running.delete(key);
        return;
      }
      const { code: _, message: __, fired: ___, ...arriving } = test.calls;
      if (missingKeys(arriving, call, volumes).length > 0) return;
      total += 1;
      for (const other of own ?? [])
        if (!wrong && !expired(other, call.atMs)) wrong = { both: [other, call], key };
      if (own) own.add(call);
      else running.set(key, new Set([call]));
    },
    outcome({ final }): Outcome {
      if (wrong) {
        const [first, second] = wrong.both;
        return {
          status: 'failed',
          summary: `call ${second.call} (${second.method}) came while call ${first.call} (${first.method}) ran, for ${wrong.key || 'no volume'}`,
          evidence: wrong.both,
        };
      }
      if (total > 0) return { status: 'passed', summary: `${plural(total, 'call')}, one at a time` };
      return { status: final ? 'failed' : 'pending', summary: 'no such call has come' };
    },
  };
}

function expired({ atMs, timeoutMs }: JournalCall, nowMs: number): boolean {
  return timeoutMs !== undefined && atMs + timeoutMs <= nowMs;
}
