import { matchesRule } from '../../../journal/query';
import type { ExpectationTest } from '../../model';
import { missSentence } from '../armed-rules';
import { standing } from '../count-test';
import { type Context, type Evaluator, Evidence, type Outcome } from '../evaluator';

type Test = Extract<ExpectationTest, { kind: 'fired' }>;

/** How often a rule fired. A call says so when it ends: one that still hangs has not been counted. */
export function firedEvaluator({ rule, times }: Test, { rules }: Context): Evaluator {
  const evidence = new Evidence();
  let fired = 0;
  let ofItsMethods = 0;
  const methods = () => {
    const known = rules.armed()?.find((armed) => matchesRule(rule, armed.rule))?.methods;
    return known === 'all' ? undefined : known;
  };
  return {
    call({ call }, change) {
      if (change !== 'answered') return;
      const own = call.fired.filter((name) => matchesRule(rule, name)).length;
      fired += own;
      if (own > 0) evidence.add(call);
      else if (methods()?.includes(call.method)) ofItsMethods += 1;
    },
    event({ event, details }) {
      // A rule that acts by time: no call tells of it.
      if (event === 'fired' && matchesRule(rule, String((details as { rule?: unknown }).rule))) fired += 1;
    },
    outcome({ final }): Outcome {
      const { holds, forGood } = standing(times, fired);
      const status = forGood || final ? (holds ? 'passed' : 'failed') : 'pending';
      const often = fired === 0 ? 'never fired' : fired === 1 ? 'fired once' : `fired ${fired} times`;
      return {
        status,
        summary: `rule ${rule} ${often}, wanted ${times.source}`,
        evidence: evidence.calls,
        ...(status === 'failed' && { nearMiss: nearMiss() }),
      };
    },
  };

  function nearMiss(): string | undefined {
    if (!times.test(fired + 1) && !times.test(Number.MAX_SAFE_INTEGER) && fired > 0) return undefined;
    const last = rules.lastMiss(rule);
    if (last) return missSentence(last.miss, last.call);
    const armed = rules.armed();
    if (armed && !armed.some((one) => matchesRule(rule, one.rule)))
      return `no rule of that name is armed; there are ${armed.map((one) => one.rule).join(', ') || 'none'}`;
    const wanted = methods();
    if (wanted && ofItsMethods === 0 && fired === 0) return `no call of ${wanted.join(', ')} came`;
    return fired === 0 ? 'no call came near it' : undefined;
  }
}
