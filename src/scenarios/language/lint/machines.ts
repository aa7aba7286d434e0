import type { Scenario } from '../../model';
import type { BuiltRule } from '../build/rule';
import type { Path } from '../positions';
import type { Report } from '../report';
import { quote } from '../show';
import { didYouMean } from '../suggest';

/** Machines that are not declared, and states that a machine never comes into. */
export function lintMachines(
  { machines }: Scenario,
  rules: readonly BuiltRule[],
  complete: boolean,
  report: Report,
): void {
  const names = Object.keys(machines);
  const states = new Map(names.map((name) => [name, new Set([machines[name]?.initial ?? ''])]));
  for (const { steps } of rules)
    for (const { action, path } of steps) {
      if (action.kind !== 'goto') continue;
      const known = states.get(action.machine);
      if (known !== undefined) known.add(action.state);
      else report.errorAtKey([...path, 'goto', action.machine], unknownMachine(action.machine, names));
    }
  for (const { rule, path } of rules)
    for (const [name, wanted] of Object.entries(rule.when.machine ?? {})) {
      const at: Path = [...path, 'when', 'machine', name];
      const known = states.get(name);
      if (known === undefined) report.errorAtKey(at, unknownMachine(name, names));
      else if (complete && !wanted.some((state) => known.has(state)))
        report.error(
          at,
          `the rule can never fire: nothing sets ${name} to ${wanted.map(quote).join(' or ')}${didYouMean(wanted[0] ?? '', known)}`,
        );
    }
}

const unknownMachine = (name: string, names: readonly string[]): string =>
  `no machine is called ${quote(name)}${didYouMean(name, names)}: declare it under machines`;
