import { methods as allMethods, type Method } from '../../../csi/rpcs';
import type { BuiltRule } from '../build/rule';
import type { Report } from '../report';

const KEYS = ['node', 'volume', 'pod', 'state'] as const;

/** A rule, with what it matches in a form that can be compared. */
interface Asked {
  readonly built: BuiltRule;
  readonly narrow: readonly Method[];
  readonly always: boolean;
  /** Of each key what was written; undefined: no condition. */
  readonly conditions: readonly (string | undefined)[];
}

/** Rules that never get a call, because one that is asked before them takes every call they could have. */
export function lintShadows(rules: readonly BuiltRule[], report: Report): void {
  const asked = rules.map(askedOf).sort((a, b) => b.built.rule.priority - a.built.rule.priority);
  const before: Asked[] = [];
  for (const later of asked) {
    const shadow = before.find((earlier) => covers(earlier, later));
    if (shadow !== undefined) {
      const { name } = shadow.built.rule;
      report.error(
        later.built.path,
        `the rule can never fire: "${name}" comes before it and takes all of its calls (give it a higher priority, or "${name}" continue: true)`,
      );
    } else if (later.always) before.push(later);
  }
}

function askedOf(built: BuiltRule): Asked {
  return {
    built,
    narrow: [...(built.rule.match.methods ?? allMethods)],
    always: alwaysFires(built),
    conditions: [...KEYS.map((key) => written(built.input.match?.[key])), built.input.match?.where?.source],
  };
}

/** Nothing but its match decides, and it ends the search. */
function alwaysFires({ rule }: BuiltRule): boolean {
  const { per: _, after, ...others } = rule.when;
  const certain = rule.stages.some(
    ({ count, probability }) => count === undefined && (probability === undefined || probability === 1),
  );
  const fromTheStart = after === undefined || (after.event === undefined && after.delayMs === 0);
  return !rule.continue && certain && fromTheStart && Object.keys(others).length === 0;
}

function covers(earlier: Asked, later: Asked): boolean {
  const wide = earlier.built.rule.match.methods;
  return (
    earlier.conditions.every(
      (condition, key) => condition === undefined || condition === later.conditions[key],
    ) &&
    (wide === undefined || later.narrow.every((method) => wide.has(method)))
  );
}

/** Patterns keep their text beside the functions that they were made into. */
function written(condition: unknown): string | undefined {
  return condition === undefined ? undefined : JSON.stringify(condition);
}
