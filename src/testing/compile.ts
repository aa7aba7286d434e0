import { parseExpectations } from '../scenarios/language';
import { ScenarioProblems } from '../scenarios/library/library';
import type { Expectation } from '../scenarios/model';
import { SpecError } from './scenario-source';
import type { ExpectationSpec } from './scenario-types';

/** @throws SpecError every mistake by its path */
export function compile(specs: readonly ExpectationSpec[]): Expectation[] {
  const { expectations, problems } = parseExpectations(JSON.stringify({ expect: specs }), 'expect');
  if (problems.some(({ severity }) => severity === 'error')) throw new SpecError(problems);
  return expectations;
}

/** @throws ScenarioProblems every mistake by its line */
export function compileText(text: string): Expectation[] {
  const { expectations, problems } = parseExpectations(text, 'expect');
  if (problems.some(({ severity }) => severity === 'error')) throw new ScenarioProblems(problems);
  return expectations;
}
