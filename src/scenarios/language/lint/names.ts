import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';
import { quote } from '../show';
import { didYouMean } from '../suggest';

/** Names used twice, and names of rules that there are not. */
export function lintNames(rules: readonly BuiltRule[], complete: boolean, report: Report): void {
  const names = new Set<string>();
  for (const { rule, path } of rules) {
    if (names.has(rule.name)) report.error([...path, 'name'], `the name "${rule.name}" is used twice`);
    names.add(rule.name);
  }
  if (!complete) return;
  const awaited = new Map(rules.map(({ rule }) => [rule.name, awaitedBy(rule)]));
  for (const { rule, path } of rules) {
    const name = awaitedBy(rule);
    if (name === undefined) continue;
    const at = [...path, 'when', 'after', 'event'];
    if (!names.has(name)) report.error(at, `no rule is called ${quote(name)}${didYouMean(name, names)}`);
    else if (name !== rule.name && waitsFor(name, rule.name, awaited))
      report.error(at, `the rule can never fire: it waits for "${name}", which waits for it`);
  }
}

/** The rule of whose first fire it waits. */
function awaitedBy({ when }: BuiltRule['rule']): string | undefined {
  const event = when.after?.event;
  return event?.startsWith('fired:') ? event.slice('fired:'.length) : undefined;
}

/** Whether one rule waits for another, through however many between them. */
function waitsFor(from: string, to: string, awaited: ReadonlyMap<string, string | undefined>): boolean {
  const seen = new Set<string>();
  for (let name: string | undefined = from; name !== undefined && !seen.has(name); name = awaited.get(name)) {
    if (name === to) return true;
    seen.add(name);
  }
  return false;
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
      report.error([...path, 'fired', 'rule'], `no rule is called ${quote(own)}${didYouMean(own, names)}`);
  }
}
