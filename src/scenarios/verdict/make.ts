import type { Expectation } from '../model';
import type { Context, Evaluator, Start } from './evaluator';
import { countEvaluator } from './kinds/count';
import { eventuallyEvaluator } from './kinds/eventually';
import { firedEvaluator } from './kinds/fired';
import { gapEvaluator } from './kinds/gap';
import { idempotentEvaluator } from './kinds/idempotent';
import { leakEvaluator } from './kinds/leak';
import { neverEvaluator } from './kinds/never';
import { orderEvaluator } from './kinds/order';
import { overlapEvaluator } from './kinds/overlap';
import { registrationEvaluator } from './kinds/registration';
import { Since } from './start';

/** What looks after one expectation, from `start` on. */
export function makeEvaluator(test: Expectation, context: Context, start: Start): Evaluator {
  switch (test.kind) {
    case 'count':
      return since(test.since, start, (from) => countEvaluator(test, context, from));
    case 'never':
      return since(test.since, start, (from) => neverEvaluator(test, context, from));
    case 'order':
      return orderEvaluator(test, context);
    case 'gap':
      return gapEvaluator(test, context);
    case 'overlap':
      return overlapEvaluator(test, context);
    case 'idempotent':
      return idempotentEvaluator(test, context);
    case 'eventually':
      return eventuallyEvaluator(test, context, start);
    case 'registration':
      return registrationEvaluator(test, start);
    case 'leak':
      return leakEvaluator(test);
    case 'fired':
      return firedEvaluator(test, context);
    case 'unavailable':
      return { outcome: () => ({ status: 'unavailable', summary: test.why }) };
  }
}

function since(name: string | undefined, start: Start, make: (from: Start) => Evaluator): Evaluator {
  return name === undefined ? make(start) : new Since(name, make);
}
