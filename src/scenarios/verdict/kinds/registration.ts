import type { ExpectationTest, RegistrationOutcome } from '../../model';
import { type Evaluator, formatMs, type Outcome, type Start } from '../evaluator';

type Test = Extract<ExpectationTest, { kind: 'registration' }>;

const STATE_OF: Readonly<Record<string, RegistrationOutcome>> = {
  registered: 'registered',
  registrationRefused: 'refused',
  registrationWithdrawn: 'withdrawn',
};

/** Some driver on the data folder comes to that state once. What the kubelet told a second socket is not meant. */
export function registrationEvaluator({ state, withinMs }: Test, start: Start): Evaluator {
  const lateAt = withinMs === undefined ? Number.POSITIVE_INFINITY : start.ms + withinMs;
  let last: RegistrationOutcome | undefined;
  let reached = false;
  return {
    event({ event, details }, _order, atMs) {
      const found = Object.hasOwn(STATE_OF, event) ? STATE_OF[event] : undefined;
      if (found === undefined || (details as { second?: boolean }).second === true) return;
      last = found;
      if (found === state && atMs <= lateAt) reached = true;
    },
    outcome({ nowMs, final }): Outcome {
      if (reached) return { status: 'passed', summary: `the driver was ${state}` };
      const within = withinMs === undefined ? '' : ` within ${formatMs(withinMs)}`;
      const found = last === undefined ? 'the kubelet has said nothing' : `the driver was ${last}`;
      return {
        status: final || nowMs > lateAt ? 'failed' : 'pending',
        summary: `${found}, wanted it to be ${state}${within}`,
      };
    },
  };
}
