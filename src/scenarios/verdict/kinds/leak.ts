import type { ExpectationTest } from '../../model';
import type { Evaluator, Outcome } from '../evaluator';

type Test = Extract<ExpectationTest, { kind: 'leak' }>;

/** No more left behind than said; what goes away while others are waited for is no leak. */
export function leakEvaluator(test: Test): Evaluator {
  return {
    outcome({ final, world }): Outcome {
      const leaks = world?.leaks;
      if (!leaks)
        return {
          status: 'unavailable',
          summary: 'mounts and loop devices are seen only by a driver that runs (this looks at files alone)',
        };
      const kinds = ['loops', 'mounts', 'frozen'] as const;
      const wanted = kinds.filter((kind) => test[kind] !== undefined);
      const over = wanted.filter((kind) => leaks[kind] > (test[kind] ?? 0));
      const summary = wanted.map((kind) => `${kind} ${leaks[kind]}, wanted ${test[kind]}`).join('; ');
      return { status: over.length === 0 ? 'passed' : final ? 'failed' : 'pending', summary };
    },
  };
}
