import { methods as allMethods, type Method } from '../../../csi/rpcs';
import type { Action, Place, Step } from '../../model';
import { POINTS } from '../../points';
import { buildTemplate, type ParsedTemplate } from '../expression';
import type { Path } from '../positions';
import type { Report } from '../report';
import type { StepInput } from '../schema/steps';
import { oneOf } from '../show';
import { didYouMean } from '../suggest';
import { buildSet, checkRespond } from './fields';
import { defaultPlace } from './places';

export interface LocatedStep extends Step {
  readonly path: Path;
}

/** What makes an error of it says then which code it is and whose. */
const NO_MESSAGE: ParsedTemplate = { source: '', parts: [] };

const KINDS = [
  'delay',
  'error',
  'hang',
  'set',
  'respond',
  'disk',
  'process',
  'registration',
  'goto',
] as const;

/** The steps of `then`. `at` holds for its own step and for those after it. */
export function buildSteps(
  input: readonly StepInput[],
  methods: readonly Method[] | undefined,
  report: Report,
  path: Path,
): { steps: LocatedStep[]; instead: boolean } {
  const known = methods ?? allMethods;
  let place: Place | undefined;
  const steps: LocatedStep[] = [];
  for (const [index, step] of input.entries()) {
    const here: Path = [...path, index];
    if (step.at !== undefined) {
      checkPlace(step.at, known, report, [...here, 'at']);
      place = step.at;
    }
    const kinds = KINDS.filter((kind) => step[kind] !== undefined);
    if (kinds.length > 1)
      report.error(
        here,
        `expected one thing to do in a step, found ${kinds.join(' and ')}: make two steps of it`,
      );
    else if (kinds.length === 0 && step.at === undefined)
      report.error(here, `expected a step such as {delay: 5s}: one of at, ${oneOf(KINDS)}`);
    for (const action of kinds.length === 1 ? actionsOf(step, known, report, here) : [])
      steps.push({ place: place ?? defaultPlace(action.kind), action, path: here });
  }
  for (const step of steps) checkStepPlace(step, known, report);
  return { steps, instead: place === 'instead' };
}

function checkPlace(place: string, methods: readonly Method[], report: Report, path: Path): void {
  if (place === 'before' || place === 'instead' || place === 'after') return;
  const without = methods.find((method) => !POINTS[method]?.includes(place));
  if (without === undefined) return;
  const points = POINTS[without] ?? [];
  const names = ['before', 'instead', 'after', ...points];
  report.error(
    path,
    `${without} has no point "${place}"${didYouMean(place, names)}: expected ${oneOf(names)}`,
  );
}

function actionsOf(step: StepInput, methods: readonly Method[], report: Report, path: Path): Action[] {
  const { delay, error, hang, set, respond, disk, process, registration, goto } = step;
  if (delay !== undefined) return [{ kind: 'delay', delay }];
  if (error !== undefined) {
    const at: Path = [...path, 'error', 'message'];
    return [{ kind: 'error', code: error.code, message: messageOf(error.message, methods, report, at) }];
  }
  if (hang !== undefined) return [{ kind: 'hang', until: hang }];
  if (set !== undefined) return [{ kind: 'set', fields: buildSet(set, methods, report, [...path, 'set']) }];
  if (respond !== undefined) {
    checkRespond(respond.merge, methods, report, [...path, 'respond', 'merge']);
    return [{ kind: 'respond', merge: respond.merge }];
  }
  if (disk !== undefined) return [{ kind: 'disk', condition: disk }];
  if (process !== undefined) return [{ kind: 'process', act: process }];
  if (registration !== undefined) return [{ kind: 'registration', act: registration }];
  return Object.entries(goto ?? {}).map(([machine, state]) => ({ kind: 'goto', machine, state }));
}

export function messageOf(
  parsed: ParsedTemplate | undefined,
  methods: readonly Method[],
  report: Report,
  path: Path,
  offset = 0,
) {
  const { template, failures } = buildTemplate(parsed ?? NO_MESSAGE, methods);
  for (const failure of failures) report.error(path, failure.message, offset + (failure.offset ?? 0));
  return template;
}

function checkStepPlace(
  { action, place, path }: LocatedStep,
  methods: readonly Method[],
  report: Report,
): void {
  const key: Path = [...path, action.kind];
  if (action.kind === 'set' && place !== 'before')
    report.errorAtKey(key, `the request is used before "${place}": set belongs to at: before`);
  if (action.kind === 'respond' && place !== 'after' && place !== 'instead')
    report.errorAtKey(
      key,
      `there is no answer yet at "${place}": respond belongs to at: after or at: instead`,
    );
  if (action.kind !== 'disk') return;
  if (place !== 'before')
    report.errorAtKey(key, `the disk is used before "${place}": disk belongs to at: before`);
  const other = methods.find((method) => method !== 'NodeStageVolume');
  if (other !== undefined)
    report.errorAtKey(
      key,
      `a disk meets its condition in NodeStageVolume, and the rule matches ${other} as well`,
    );
}
