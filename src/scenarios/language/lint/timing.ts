import { methods as allMethods } from '../../../csi/rpcs';
import type { Scenario } from '../../model';
import { list } from '../build/match';
import type { BuiltRule } from '../build/rule';
import { formatDuration } from '../durations';
import { carriesVolume } from '../methods';
import type { Path } from '../positions';
import type { Report } from '../report';

/** Times that never come. */
export function lintTiming({ rule, path }: BuiltRule, scenario: Scenario, report: Report): void {
  const at: Path = [...path, 'when'];
  const { after, window } = rule.when;
  if (window?.kind === 'duty' && window.downMs === 0)
    report.error([...at, 'window', 'down'], 'the rule can never fire: it acts while the window is down');
  if (after === undefined) return;
  const { expiresMs } = scenario;
  if (expiresMs !== undefined && after.delayMs >= expiresMs)
    report.error(
      [...at, 'after'],
      `the rule can never fire: the scenario expires ${formatDuration(expiresMs)} after it was armed`,
    );
  const { event } = after;
  if (event === undefined) return;
  if (event === `fired:${rule.name}`)
    report.error([...at, 'after', 'event'], 'the rule can never fire: it waits for itself');
  if (event.startsWith('fired:')) return;
  const known = [...(rule.match.methods ?? allMethods)];
  if (!known.some(carriesVolume))
    report.error(
      [...at, 'after', 'event'],
      `the rule can never fire: ${list(known)} is about no volume that could be ${event}`,
    );
  else if (known.every((method) => method === 'CreateVolume'))
    report.error(
      [...at, 'after', 'event'],
      `the rule can never fire: the volume of a CreateVolume has not been ${event} before`,
    );
}
