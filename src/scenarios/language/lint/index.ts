import type { Scenario } from '../../model';
import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';

/** Refuses what reads as if it did something and never can. */
export function lintScenario(_scenario: Scenario, _rules: readonly BuiltRule[], _report: Report): void {}
