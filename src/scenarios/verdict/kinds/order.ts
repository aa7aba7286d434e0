import type { JournalCall } from '../../../journal/calls';
import type { CallSelector, ExpectationTest } from '../../model';
import type { Context, Evaluator, Outcome } from '../evaluator';
import { plural } from '../evaluator';
import { isSelected } from '../select';

type Test = Extract<ExpectationTest, { kind: 'order' }>;

/** The first answer of each kind for one volume. */
interface Progress {
  readonly first: (JournalCall | undefined)[];
  wrong?: { readonly early: JournalCall; readonly missing: number };
}

/** A volume for which any of the calls came has to see all of them, in this order. */
export function orderEvaluator(test: Test, { volumes }: Context): Evaluator {
  const progress = new Map<string, Progress>();
  let wrong: { volume: string; progress: Progress } | undefined;
  return {
    call({ call }, change) {
      if (change !== 'answered' || call.code !== 'OK') return;
      const step = test.calls.findIndex((selector) => isSelected(selector, call, volumes));
      if (step === -1) return;
      const volume = call.volumeId ?? '';
      let own = progress.get(volume);
      if (!own) {
        own = { first: test.calls.map(() => undefined) };
        progress.set(volume, own);
      }
      if (own.first[step]) return;
      own.first[step] = call;
      const missing = own.first.slice(0, step).indexOf(undefined);
      if (missing === -1 || own.wrong) return;
      own.wrong = { early: call, missing };
      wrong ??= { volume, progress: own };
    },
    outcome({ final }): Outcome {
      if (wrong) return wrongOrder(wrong.volume, wrong.progress, test.calls);
      const complete = [...progress.values()].filter(({ first }) => !first.includes(undefined));
      if (complete.length > 0 && complete.length === progress.size) {
        const evidence = (complete[0]?.first ?? []).filter((call) => call !== undefined);
        return {
          status: 'passed',
          summary: `in this order for ${plural(progress.size, 'volume')}`,
          evidence,
        };
      }
      const status = final ? 'failed' : 'pending';
      for (const [volume, { first }] of progress) {
        const next = first.indexOf(undefined);
        if (next === -1) continue;
        const evidence = first.filter((call) => call !== undefined);
        const summary = `${named(test.calls[next])} has not come for ${volume || 'any volume'}`;
        return { status, summary, evidence };
      }
      return { status, summary: 'none of these calls has answered OK' };
    },
  };
}

function wrongOrder(volume: string, { first, wrong }: Progress, calls: readonly CallSelector[]): Outcome {
  const missing = wrong?.missing ?? 0;
  const came = first[missing] ? 'came after' : 'had not come before';
  const evidence = first.filter((call) => call !== undefined);
  const where = volume === '' ? '' : ` for ${volume}`;
  const summary = `${named(calls[missing])} ${came} ${wrong?.early.method}${where}`;
  return { status: 'failed', summary, evidence };
}

function named(selector: CallSelector | undefined): string {
  return selector?.methods ? [...selector.methods].join(' or ') : 'a call';
}
