import type { Operation, Step } from './operations';

/** Plays a sequence. @returns how many of its steps were taken before it failed; undefined when it did not. */
export type Trial = (steps: Step[]) => Promise<number | undefined>;

/**
 * The shortest and plainest sequence that still fails: whole stretches are left out first, then steps, then calls of those
 * that are sent together, then what calls ask beyond the usual. fast-check shrinks from the front and knows nothing of
 * where a sequence failed; each trial here begins with a new driver, so they must be few.
 */
export async function minimise(failing: Step[], trial: Trial, most: number): Promise<Step[]> {
  let best = failing;
  let left = most;
  const fails = async (steps: Step[]) => {
    if (left <= 0) return false;
    left -= 1;
    const taken = await trial(steps);
    if (taken === undefined) return false;
    // What comes behind the failure has no part in it.
    best = steps.slice(0, taken);
    return true;
  };
  if (!(await fails(failing))) return failing;
  for (
    let stretch = Math.ceil(best.length / 2);
    stretch >= 1;
    stretch = stretch === 1 ? 0 : Math.ceil(stretch / 2)
  )
    for (let from = Math.max(0, best.length - stretch); from >= 0; from -= stretch)
      await fails([...best.slice(0, from), ...best.slice(from + stretch)]);
  for (let again = true; again && left > 0; ) {
    again = false;
    for (const steps of plainer(best))
      if (await fails(steps)) {
        again = true;
        break;
      }
  }
  return best;
}

/** Sequences with one thing less. */
function* plainer(steps: readonly Step[]): Generator<Step[]> {
  for (const [index, step] of steps.entries()) {
    const replaced = (by: Step[]) => [...steps.slice(0, index), ...by, ...steps.slice(index + 1)];
    yield replaced([]);
    if (step.kind === 'together') {
      for (const one of step.operations) {
        const others = step.operations.filter((other) => other !== one);
        yield replaced(others.length > 1 ? [{ ...step, operations: others }] : others.map(alone));
      }
      for (const [place, one] of step.operations.entries())
        for (const other of plainerCalls(one))
          yield replaced([{ ...step, operations: step.operations.with(place, other) }]);
    }
    if (step.kind === 'call')
      for (const other of plainerCalls(step.operation)) yield replaced([alone(other)]);
  }
}

const alone = (operation: Operation): Step => ({ kind: 'call', operation });

const USUAL = { type: 'mount', mode: 'SINGLE_NODE_WRITER', fs: '', flags: [] };
/** What a field holds when a call asks nothing special. */
const PLAIN: Readonly<Record<string, unknown>> = {
  access: USUAL,
  source: null,
  range: null,
  groupable: true,
  protect: false,
  readonly: false,
  dependent: false,
  max: 0,
  context: 'own',
};

function* plainerCalls(operation: Operation): Generator<Operation> {
  for (const [field, value] of Object.entries(operation)) {
    if (!Object.hasOwn(PLAIN, field)) continue;
    const several = Array.isArray(value) && field === 'access';
    // To expand is to ask for a range.
    const plain = operation.rpc === 'ControllerExpandVolume' && field === 'range' ? value : PLAIN[field];
    const wanted = several ? [plain] : plain;
    if (text(wanted) !== text(value)) yield { ...operation, [field]: wanted } as Operation;
  }
}

const text = (value: unknown) =>
  JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? `${field}` : field));
