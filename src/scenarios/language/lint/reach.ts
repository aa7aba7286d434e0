import { methods as allMethods } from '../../../csi/rpcs';
import { actsByTime } from '../../engine/timed-rules';
import type { Scenario } from '../../model';
import { isBeyond } from '../build/places';
import type { BuiltRule } from '../build/rule';
import type { LocatedStep } from '../build/steps';
import { formatDuration } from '../durations';
import type { Path } from '../positions';
import type { Report } from '../report';

/** Ends of a rule that no call comes to. */
export function lintReach(built: BuiltRule, scenario: Scenario, report: Report): void {
  lintStages(built, report);
  lintSteps(built, report);
  lintTimed(built, report);
  lintHangs(built, scenario, report);
}

function lintStages({ rule, input, path }: BuiltRule, report: Report): void {
  const written = input.sequence?.stages ?? [];
  const at: Path = [...path, 'sequence'];
  // Fires of one key that there can be at all.
  const { times = Number.POSITIVE_INFINITY } = rule.when;
  const fires = Math.min(times, input.when?.nth?.size ?? Number.POSITIVE_INFINITY);
  let before = 0;
  for (const [index, { count, probability, offset }] of written.entries()) {
    if (count === 0 || probability === 0) {
      report.error(at, `stage ${index + 1} can never act`, offset);
      continue;
    }
    if (before === Number.POSITIVE_INFINITY) {
      report.error(at, `stage ${index + 1} can never be reached: the one before it has no end`, offset);
      return;
    }
    if (before >= fires) {
      report.error(
        at,
        `stage ${index + 1} can never be reached: the rule fires ${fires === 1 ? 'once' : `at most ${fires} times`}`,
        offset,
      );
      return;
    }
    if (probability === undefined || probability === 1) before += count ?? Number.POSITIVE_INFINITY;
  }
}

function lintSteps({ rule, steps }: BuiltRule, report: Report): void {
  const known = [...(rule.match.methods ?? allMethods)];
  for (const [index, step] of steps.entries()) {
    const end = steps
      .slice(0, index)
      .find((earlier) => endsCall(earlier) && isBeyond(step.place, earlier.place, known));
    if (end === undefined) continue;
    const what = end.action.kind === 'error' ? 'the error' : 'the exit';
    report.error(step.path, `can never be reached: ${what} before it ends the call`);
  }
  const instead = steps.find(({ place }) => place === 'instead');
  if (instead === undefined) return;
  for (const step of steps)
    if (
      step.place !== 'before' &&
      step.place !== 'instead' &&
      !(step.place === 'after' && step.action.kind === 'respond')
    )
      report.error(
        step.path,
        `can never be reached: the work is not done, so the call does not come to "${step.place}"`,
      );
}

/** A rule that acts when its time comes has no call before it. */
function lintTimed({ rule, steps }: BuiltRule, report: Report): void {
  if (!actsByTime(rule)) return;
  for (const { action, path } of steps)
    if (!WITHOUT_CALL.has(action.kind))
      report.errorAtKey(
        [...path, action.kind],
        `there is no call for ${action.kind}: a rule with a step of the registration and a time of its own acts by time; make it a rule of its own`,
      );
}

const WITHOUT_CALL: ReadonlySet<string> = new Set(['registration', 'process', 'goto', 'delay']);

const endsCall = ({ action }: LocatedStep): boolean =>
  action.kind === 'error' || (action.kind === 'process' && action.act.kind === 'exit');

function lintHangs({ rule, path, steps }: BuiltRule, { limits }: Scenario, report: Report): void {
  const { maxHangMs } = limits;
  if (maxHangMs === undefined) return;
  const cut = `the hang is cut to limits.maxHang, ${formatDuration(maxHangMs)}`;
  for (const step of steps)
    if (step.action.kind === 'hang' && step.action.until.kind === 'time' && step.action.until.ms > maxHangMs)
      report.warning([...step.path, 'hang'], cut);
  if (steps.length > 0) return;
  for (const stage of rule.stages)
    for (const { action } of stage.steps)
      if (action.kind === 'hang' && action.until.kind === 'time' && action.until.ms > maxHangMs)
        report.warning([...path, 'sequence'], cut);
}
