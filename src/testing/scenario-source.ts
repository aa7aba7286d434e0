import { existsSync, readdirSync, statSync } from 'node:fs';
import * as path from 'node:path';
import type { Problem } from '../scenarios/language';
import { ScenarioProblems } from '../scenarios/library/library';
import type { RuleSpec, ScenarioSpec } from './scenario-types';

/**
 * A scenario as an object, the text of a YAML file, or the path of a file or of a folder of them. A string is a path when
 * it is one line that does not begin with `{`.
 */
export type ScenarioSource = ScenarioSpec | string;

/** What is put into the driver's folder: one document a scenario. */
export interface ScenarioText {
  readonly name: string;
  readonly text: string;
  /** `scenario/rule` */
  readonly rules: readonly string[];
}

/** @throws ScenarioProblems with the place of every mistake */
export function readScenarios(source: ScenarioSource): ScenarioText[] {
  if (typeof source !== 'string') return parsed(JSON.stringify(source), 'scenario', 'paths');
  if (source.includes('\n') || source.trimStart().startsWith('{')) return parsed(source, 'scenario', 'lines');
  return filesAt(source).flatMap((file) => {
    const read = language().readScenarioFile(file);
    if (!('text' in read)) throw new ScenarioProblems([read]);
    return parsed(read.text, file, 'lines');
  });
}

/**
 * A rule as a scenario of its own, called `name`.
 * @throws ScenarioProblems
 */
export function readRule(rule: RuleSpec | string, name: string): ScenarioText {
  const [scenario] =
    typeof rule === 'string' ? oneLine(rule, name) : parsed(asScenario(rule, name), 'rule', 'paths');
  if (!scenario) throw new Error(`rule ${name}: it makes no scenario`);
  return scenario;
}

function asScenario(rule: RuleSpec, name: string): string {
  return JSON.stringify({
    apiVersion: 'fake-csi/v1',
    kind: 'Scenario',
    metadata: { name },
    spec: { rules: [{ name: 'rule', ...rule }] },
  } satisfies ScenarioSpec);
}

function oneLine(rule: string, name: string): ScenarioText[] {
  const { text, problems } = language().parseRule(rule, { name });
  if (text === undefined) throw new ScenarioProblems(problems);
  return parsed(text, 'rule', 'lines');
}

/** @param told where a mistake is: in what a person wrote as lines, or as an object. */
function parsed(text: string, file: string, told: 'lines' | 'paths'): ScenarioText[] {
  const { scenarios, texts, problems } = language().parseScenarios(text, file);
  if (problems.some(({ severity }) => severity === 'error'))
    throw told === 'lines' ? new ScenarioProblems(problems) : new SpecError(problems);
  return scenarios.map(({ name, rules }, i) => ({
    name,
    text: texts[i] ?? text,
    rules: rules.map((rule) => `${name}/${rule.name}`),
  }));
}

/** An object that is no scenario: every mistake by its path, since an object has no lines. */
export class SpecError extends TypeError {
  override readonly name = 'SpecError';

  constructor(readonly problems: readonly Problem[]) {
    super(
      problems
        .filter(({ severity }) => severity === 'error')
        .map(({ file, path: where, message }) => `${where === '' ? file : where}: ${message}`)
        .join('\n'),
    );
  }
}

function filesAt(place: string): string[] {
  if (!existsSync(place))
    throw new Error(
      `scenario ${JSON.stringify(place)}: no such file or folder; give an object, YAML text of several lines, or a path`,
    );
  if (!statSync(place).isDirectory()) return [place];
  const files = readdirSync(place).filter((name) => /^[^.].*\.ya?ml$/.test(name));
  if (files.length === 0)
    throw new Error(`scenario ${JSON.stringify(place)}: expected *.yaml in it, found none`);
  return files.sort().map((name) => path.join(place, name));
}

/** zod and yaml take a tenth of a second to load: only tests that have a rule pay for it. */
function language(): typeof import('../scenarios/language') {
  return require('../scenarios/language') as typeof import('../scenarios/language');
}
