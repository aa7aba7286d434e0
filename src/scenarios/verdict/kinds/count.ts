import type { CountTest, ExpectationTest } from '../../model';
import { missSentence } from '../armed-rules';
import { standing } from '../count-test';
import {
  type Context,
  type Evaluator,
  Evidence,
  formatMs,
  type Outcome,
  plural,
  type Start,
} from '../evaluator';
import { Nearest } from '../nearest';
import { isOfMethod, missingKeys, needsAnswer } from '../select';

type Test = Extract<ExpectationTest, { kind: 'count' }>;

/**
 * So many calls. One that is told by its answer counts at the time of its answer, any other when it arrives. What can
 * still change is known only when `within` has passed, or at the end.
 */
export function countEvaluator(test: Test, { volumes }: Context, start: Start): Evaluator {
  const { calls, count, withinMs } = test;
  const evidence = new Evidence();
  const nearest = new Nearest();
  const lateAt = withinMs === undefined ? Number.POSITIVE_INFINITY : start.ms + withinMs;
  const byAnswer = needsAnswer(calls);
  let late = 0;
  return {
    call({ call }, change, atMs) {
      if (!isOfMethod(calls, call)) return;
      // Lost calls have no answer, and were counted when they arrived where none is needed.
      if (byAnswer ? change !== 'answered' : change !== 'received') {
        if (change === 'answered') nearest.refresh(call);
        return;
      }
      const misses = missingKeys(calls, call, volumes);
      if (misses.length > 0) nearest.offer(call, misses);
      else if (atMs > lateAt) late += 1;
      else evidence.add(call);
    },
    outcome({ nowMs, final }): Outcome {
      const { holds, forGood } = standing(count, evidence.total);
      const over = final || nowMs > lateAt;
      const status = forGood || over ? (holds ? 'passed' : 'failed') : 'pending';
      return {
        status,
        summary: summary(evidence.total, count, withinMs, late),
        evidence: evidence.calls,
        ...(status === 'failed' && { nearMiss: nearest.sentence() ?? missOf(evidence) }),
      };
    },
  };
}

function summary(total: number, count: CountTest, withinMs: number | undefined, late: number): string {
  const within = withinMs === undefined ? '' : ` within ${formatMs(withinMs)}`;
  const later = late === 0 ? '' : `, and ${late} later`;
  return `${plural(total, 'call')}${within}${later}, wanted ${count.source}`;
}

/** When the calls themselves are right, a rule that should have made more of them may not have fired. */
function missOf({ calls }: Evidence): string | undefined {
  const call = calls.findLast(({ misses }) => misses.length > 0);
  const miss = call?.misses[0];
  return call && miss && missSentence(miss, call);
}
