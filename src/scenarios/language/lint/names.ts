import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';
import { didYouMean } from '../suggest';

/** Names used twice, and names of rules that there are not. */
export function lintNames(rules: readonly BuiltRule[], complete: boolean, report: Report): void {
  const names = new Set<string>();
  for (const { rule, path } of rules) {
    if (names.has(rule.name)) report.error([...path, 'name'], `the name "${rule.name}" is used twice`);
    names.add(rule.name);
  }
  if (!complete) return;
  for (const { rule, path } of rules) {
    const event = rule.when.after?.event;
    if (!event?.startsWith('fired:')) continue;
    const name = event.slice('fired:'.length);
    if (!names.has(name))
      report.error(
        [...path, 'when', 'after', 'event'],
        `no rule is called "${name}"${didYouMean(name, names)}`,
      );
  }
}

/** `fired: {rule}` of this scenario's own expectations; `scenario/rule` may be of another file. */
export function lintFired(
  fired: readonly { readonly rule: string; readonly path: readonly (string | number)[] }[],
  scenario: string,
  rules: readonly BuiltRule[],
  report: Report,
): void {
  const names = rules.map(({ rule }) => rule.name);
  for (const { rule, path } of fired) {
    const own = rule.startsWith(`${scenario}/`) ? rule.slice(scenario.length + 1) : rule;
    if (!own.includes('/') && !names.includes(own))
      report.error([...path, 'fired', 'rule'], `no rule is called "${own}"${didYouMean(own, names)}`);
  }
}
