import { methods as allMethods } from '../../../csi/rpcs';
import type { Action, Rule, Stage } from '../../model';
import { carriesVolume } from '../methods';
import type { Path } from '../positions';
import type { Report } from '../report';
import type { RuleInput } from '../schema/document';
import type { SequenceStage, Task } from '../sequence';
import { buildMatch } from './match';
import { buildSteps, type LocatedStep, messageOf } from './steps';
import { buildWhen } from './when';

/** A rule with what only its text knows, for the lint. */
export interface BuiltRule {
  readonly rule: Rule;
  readonly path: Path;
  readonly input: RuleInput;
  readonly steps: readonly LocatedStep[];
}

export function buildRule(input: RuleInput, index: number, report: Report, path: Path): BuiltRule {
  const match = buildMatch(input.match, report, [...path, 'match']);
  const known = [...(match.methods ?? allMethods)];
  const when = buildWhen(input.when, known.some(carriesVolume));
  const { then, sequence } = input;
  if (then === undefined && sequence === undefined)
    report.error(path, 'does nothing: expected then or sequence');
  if (then !== undefined && sequence !== undefined)
    report.errorAtKey([...path, 'sequence'], 'then and sequence exclude each other');
  const built = then === undefined ? undefined : buildSteps(then, known, report, [...path, 'then']);
  const empty = then?.every((step) => Object.keys(step).join() === 'at');
  if (empty && !built?.instead)
    report.errorAtKey([...path, 'then'], 'does nothing: expected a step such as {delay: 5s}');
  const sequencePath: Path = [...path, 'sequence'];
  const stages: Stage[] =
    built === undefined
      ? (sequence?.stages ?? []).map((stage) => stageOf(stage, known, report, sequencePath))
      : [{ count: undefined, probability: undefined, steps: stepsOf(built) }];
  const rule: Rule = {
    name: input.name ?? `rule-${index + 1}`,
    at: report.locator.value(path),
    priority: input.priority ?? 0,
    continue: input.continue ?? false,
    destructive: input.destructive ?? false,
    match,
    when,
    stages,
  };
  return { rule, path, input, steps: built?.steps ?? [] };
}

/** `{at: instead}` alone answers OK with nothing in it: an empty merge is how a step says so. */
function stepsOf({ steps, instead }: { steps: readonly LocatedStep[]; instead: boolean }) {
  const plain = steps.map(({ place, action }) => ({ place, action }));
  const said = plain.some(({ place }) => place === 'instead');
  const nothing: Action = { kind: 'respond', merge: {} };
  return instead && !said ? [...plain, { place: 'instead', action: nothing }] : plain;
}

function stageOf(
  { count, probability, task, argumentOffset }: SequenceStage,
  known: Parameters<typeof messageOf>[1],
  report: Report,
  path: Path,
): Stage {
  const action = actionOf(task, (message) => messageOf(message, known, report, path, argumentOffset));
  return { count, probability, steps: action === undefined ? [] : [{ place: 'before', action }] };
}

function actionOf(
  task: Task,
  message: (parsed: (Task & { kind: 'error' })['message']) => (Action & { kind: 'error' })['message'],
): Action | undefined {
  switch (task.kind) {
    case 'ok':
      return undefined;
    case 'error':
      return { kind: 'error', code: task.code, message: message(task.message) };
    case 'delay':
      return { kind: 'delay', delay: task.delay };
    case 'hang':
      return { kind: 'hang', until: task.until };
  }
}
