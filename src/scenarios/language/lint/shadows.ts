import { isDeepStrictEqual } from 'node:util';
import { methods as allMethods } from '../../../csi/rpcs';
import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';

/** Rules that never get a call, because one that is asked before them takes every call they could have. */
export function lintShadows(rules: readonly BuiltRule[], report: Report): void {
  const asked = [...rules].sort((a, b) => b.rule.priority - a.rule.priority);
  for (const [index, built] of asked.entries()) {
    const shadow = asked.slice(0, index).find((earlier) => alwaysFires(earlier) && covers(earlier, built));
    if (shadow !== undefined)
      report.error(
        built.path,
        `the rule can never fire: "${shadow.rule.name}" comes before it and takes all of its calls (give it a higher priority, or "${shadow.rule.name}" continue: true)`,
      );
  }
}

/** Nothing but its match decides, and it ends the search. */
function alwaysFires({ rule }: BuiltRule): boolean {
  const { per: _, ...conditions } = rule.when;
  const certain = rule.stages.some(
    ({ count, probability }) => count === undefined && (probability === undefined || probability === 1),
  );
  const { after, ...others } = conditions;
  const fromTheStart = after === undefined || (after.event === undefined && after.delayMs === 0);
  return !rule.continue && certain && fromTheStart && Object.keys(others).length === 0;
}

function covers(earlier: BuiltRule, later: BuiltRule): boolean {
  const wide = earlier.rule.match.methods;
  const narrow = [...(later.rule.match.methods ?? allMethods)];
  if (wide !== undefined && !narrow.every((method) => wide.has(method))) return false;
  return (['node', 'volume', 'pod', 'state', 'where'] as const).every((key) => {
    const condition = earlier.input.match?.[key];
    return (
      condition === undefined || isDeepStrictEqual(sources(condition), sources(later.input.match?.[key]))
    );
  });
}

/** What was written, without the functions that it was made into. */
function sources(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, part) => (key === 'node' && hasKind(part) ? undefined : part)),
  );
}

const hasKind = (part: unknown): boolean => typeof part === 'object' && part !== null && 'kind' in part;
