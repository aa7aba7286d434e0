import { DESTRUCTIVE_CONDITIONS, type Scenario } from '../../model';
import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';

/** Data dies only where the rule says so, and the scenario lets it. */
export function lintDestruction({ rule, path, steps }: BuiltRule, scenario: Scenario, report: Report): void {
  if (rule.destructive && !scenario.limits.allowDestructive)
    report.errorAtKey([...path, 'destructive'], 'limits.allowDestructive is false');
  for (const { action, path: at } of steps) {
    if (action.kind !== 'disk' || rule.destructive) continue;
    const { kind } = action.condition;
    if ((DESTRUCTIVE_CONDITIONS as readonly string[]).includes(kind))
      report.errorAtKey(
        [...at, 'disk'],
        `${kind} destroys the volume's data: the rule needs destructive: true`,
      );
  }
}
