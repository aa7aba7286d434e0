import { type Method, rpcs } from '../../../csi/rpcs';
import type { FieldChange } from '../../model';
import { type Reached, walk } from '../expression/request-paths';
import type { Path } from '../positions';
import type { Report } from '../report';
import { show } from '../show';
import { didYouMean } from '../suggest';
import { checkMerge, checkValue, type PatchProblem, shortName } from './patch-check';

/** `set:` a map of paths into the request and what stands there instead. */
export function buildSet(
  input: Readonly<Record<string, unknown>>,
  methods: readonly Method[],
  report: Report,
  path: Path,
): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [written, value] of Object.entries(input)) {
    const here: Path = [...path, written];
    const steps = stepsOf(written);
    if (steps === undefined) {
      report.errorAtKey(here, `expected a path such as request.readonly, found ${show(written)}`);
      continue;
    }
    for (const method of methods) checkSet(rpcs[method].requestType, steps, value, report, here);
    changes.push({ path: steps, value });
  }
  if (changes.length === 0 && Object.keys(input).length === 0)
    report.errorAtKey(path, 'expected a path such as request.readonly, found an empty map');
  return changes;
}

/** Keys with dots in brackets: `request.volume_context["csi.storage.k8s.io/fstype"]`. */
function stepsOf(written: string): string[] | undefined {
  const steps: string[] = [];
  let rest = written.startsWith('request.') ? written.slice('request'.length) : undefined;
  while (rest !== undefined && rest !== '') {
    const match = /^(?:\.(\w+)|\[(\d+)\]|\["([^"]+)"\]|\['([^']+)'\])/.exec(rest);
    if (match === null) return undefined;
    steps.push(match[1] ?? match[2] ?? match[3] ?? match[4] ?? '');
    rest = rest.slice(match[0].length);
  }
  return steps.length > 0 ? steps : undefined;
}

function checkSet(
  typeName: string,
  steps: readonly string[],
  value: unknown,
  report: Report,
  path: Path,
): void {
  const walked = walk(typeName, steps);
  if ('reached' in walked) {
    for (const problem of valueProblems(walked.reached, value)) reportPatch(report, path, problem);
    return;
  }
  const name = steps[walked.at] ?? '';
  const message =
    walked.problem === 'secret'
      ? `${name} is secret: a scenario cannot touch it`
      : `unknown field "${name}" of ${shortName(typeName)}${didYouMean(name, walked.candidates)}`;
  report.errorAtKey(path, message);
}

function valueProblems(reached: Reached, value: unknown): PatchProblem[] {
  if (reached.kind === 'field') {
    const { label, ...one } = reached.field;
    return checkValue(reached.element ? one : reached.field, value);
  }
  if (value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value))
    return [{ path: [], message: `expected a map, found ${show(value)}`, atKey: false }];
  return checkMerge(reached.type, value);
}

/** `respond.merge`, held against the answers of all methods of the rule. */
export function checkRespond(
  merge: Readonly<Record<string, unknown>>,
  methods: readonly Method[],
  report: Report,
  path: Path,
): void {
  for (const method of methods)
    for (const problem of checkMerge(rpcs[method].responseType, merge)) reportPatch(report, path, problem);
}

function reportPatch(report: Report, base: Path, { path, message, atKey }: PatchProblem): void {
  if (atKey) report.errorAtKey([...base, ...path], message);
  else report.error([...base, ...path], message);
}
