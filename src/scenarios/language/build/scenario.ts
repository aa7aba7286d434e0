import type { z } from 'zod';
import type { Expectation, Limits, Scenario } from '../../model';
import { buildExpression } from '../expression';
import { reportIssues } from '../issues';
import { lintScenario } from '../lint';
import { lintFired } from '../lint/names';
import type { Path } from '../positions';
import type { Report } from '../report';
import { rule as ruleSchema, type ScenarioInput, scenarioDocument } from '../schema/document';
import { type ExpectationInput, type ExpectationKind, expectationKinds } from '../schema/expect';
import { didYouMean } from '../suggest';
import { buildExpectation } from './expectation';
import { type BuiltRule, buildRule } from './rule';

/** A scenario from plain data; undefined when it cannot be made. Everything that is wrong is in the report. */
export function buildScenario(value: unknown, report: Report): Scenario | undefined {
  const parsed = scenarioDocument.safeParse(value, { reportInput: true });
  if (!parsed.success) reportIssues(report, [], parsed.error.issues);
  const raw = rawSpec(value);
  const rules = buildRules(raw.rules, report);
  const expect = buildExpectations(raw.expect, report, ['spec', 'expect']);
  if (!parsed.success) return undefined;
  const { rules: written, expect: expected } = parsed.data.spec;
  if (written === undefined && expected === undefined)
    report.error(['spec'], 'does nothing: expected rules, expect or both');
  const scenario = assemble(parsed.data, rules, expect, report);
  const complete = rules.length === raw.rules.length;
  lintScenario(scenario, rules, complete, report);
  if (complete) lintFired(firedOf(raw.expect), scenario.name, rules, report);
  return scenario;
}

/** Also of a document that is not right in other places. */
function rawSpec(value: unknown): { rules: readonly unknown[]; expect: readonly unknown[] } {
  const spec = member(value, 'spec');
  const list = (key: string): readonly unknown[] => {
    const found = member(spec, key);
    return Array.isArray(found) ? found : [];
  };
  return { rules: list('rules'), expect: list('expect') };
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function buildRules(raw: readonly unknown[], report: Report): BuiltRule[] {
  return raw.flatMap((value, index) => {
    const path: Path = ['spec', 'rules', index];
    const input = parse(ruleSchema, value, report, path);
    return input === undefined ? [] : [buildRule(input, index, report, path)];
  });
}

export function buildExpectations(raw: readonly unknown[], report: Report, base: Path): Expectation[] {
  return raw.flatMap((value, index) => {
    const path: Path = [...base, index];
    const kind = kindOf(value, report, path);
    if (kind === undefined) return [];
    const input = parse(expectationKinds[kind] as z.ZodType, value, report, path);
    if (input === undefined) return [];
    return [buildExpectation({ kind, value: input } as ExpectationInput, value, report, path)];
  });
}

function firedOf(raw: readonly unknown[]): { rule: string; path: Path }[] {
  return raw.flatMap((value, index) => {
    const rule = member(member(value, 'fired'), 'rule');
    return typeof rule === 'string' ? [{ rule, path: ['spec', 'expect', index] }] : [];
  });
}

function kindOf(value: unknown, report: Report, path: Path): ExpectationKind | undefined {
  const kinds = Object.keys(expectationKinds) as ExpectationKind[];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report.error(path, 'expected an expectation such as {count: ">=2", rpc: NodeStageVolume}');
    return undefined;
  }
  const kind = kinds.find((known) => Object.hasOwn(value, known));
  if (kind === undefined) {
    const hint = Object.keys(value)
      .map((key) => didYouMean(key, kinds))
      .find((found) => found !== '');
    report.error(path, `expected one of the keys ${kinds.join(', ')}${hint ?? ''}`);
  }
  return kind;
}

function parse<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  report: Report,
  path: Path,
): Output | undefined {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  reportIssues(report, path, parsed.error.issues);
  return undefined;
}

function assemble(
  { metadata, spec }: ScenarioInput,
  rules: readonly BuiltRule[],
  expect: readonly Expectation[],
  report: Report,
): Scenario {
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    seed: spec.seed ?? 0,
    enabled: spec.enabled ?? true,
    expiresMs: spec.expires,
    discreet: spec.discreet ?? false,
    limits: limitsOf(spec.limits, report),
    rules: rules.map(({ rule }) => rule),
    machines: spec.machines ?? {},
    expect,
  };
}

function limitsOf(input: ScenarioInput['spec']['limits'], report: Report): Limits {
  const stopIf = (input?.stopIf ?? []).map((parsed, index) => {
    const { expression, failures } = buildExpression(parsed, [], ['rule']);
    report.failures(['spec', 'limits', 'stopIf', index], failures);
    return expression;
  });
  return {
    maxFired: input?.maxFired,
    maxActive: input?.maxActive,
    maxVolumes: input?.maxVolumes,
    maxHangMs: input?.maxHang,
    allowDestructive: input?.allowDestructive ?? true,
    stopIf,
  };
}
