import type { Scenario } from '../../model';
import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';
import { lintCounting } from './counting';
import { lintDestruction } from './destruction';
import { lintMachines } from './machines';
import { lintNames } from './names';
import { lintReach } from './reach';
import { lintShadows } from './shadows';
import { lintTiming } from './timing';

/**
 * Refuses what reads as if it did something and never can. `complete`: every rule of the file was read, so that what no
 * rule says is said by none.
 */
export function lintScenario(
  scenario: Scenario,
  rules: readonly BuiltRule[],
  complete: boolean,
  report: Report,
): void {
  for (const rule of rules) {
    lintCounting(rule, report);
    lintTiming(rule, scenario, report);
    lintReach(rule, scenario, report);
    lintDestruction(rule, scenario, report);
  }
  lintNames(rules, complete, report);
  lintMachines(scenario, rules, complete, report);
  lintShadows(rules, report);
}
