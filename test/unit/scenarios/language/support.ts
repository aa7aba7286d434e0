import { formatProblem, parseScenarios } from '../../../../src/scenarios/language';
import type { Rule, Scenario } from '../../../../src/scenarios/model';

/** Four lines, so that what is given begins on line 5. */
export const HEADER = 'apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: slow}\nspec:\n';

/** One line for each problem of a scenario with this under `spec:`. */
export function linesOf(spec: string): string[] {
  return parseScenarios(HEADER + spec, 'slow.yaml').problems.map(formatProblem);
}

/** The lines for a scenario with this one rule in flow style, without file, line and path. */
export function ruleProblems(rule: string): string[] {
  return linesOf(`  rules:\n  - ${rule}\n`).map((line) =>
    line.replace(/^slow\.yaml:\d+:\d+: (warning: )?rules\.0[\w.[\]"/]*: /, '$1'),
  );
}

export function scenarioOf(spec: string): Scenario {
  const { scenarios, problems } = parseScenarios(HEADER + spec, 'slow.yaml');
  const [scenario] = scenarios;
  if (scenario === undefined) throw new Error(problems.map(formatProblem).join('\n'));
  return scenario;
}

export function ruleOf(rule: string): Rule {
  const [only] = scenarioOf(`  rules:\n  - ${rule}\n`).rules;
  if (only === undefined) throw new Error('expected a rule');
  return only;
}
