import type { Scenario } from '../model';
import { buildScenario } from './build/scenario';
import { readDocuments } from './documents';
import { readScenarioFile } from './file';
import { nowhere } from './positions';
import { hasErrors, ordered, type Problem } from './problems';
import { Report } from './report';

export { formatDuration, parseDuration } from './durations';
export { type ParsedExpectations, parseExpectations } from './expectations';
export { MAX_FILE_BYTES, readScenarioFile } from './file';
export { jsonSchema } from './json-schema';
export { type ParsedRule, type ParseRuleOptions, parseRule } from './one-line';
export { formatProblem, type Problem } from './problems';

export interface ParsedScenarios {
  /** Empty when one of the problems is an error. */
  readonly scenarios: Scenario[];
  /** The text of each of them alone, in the same order; none where there was no text. */
  readonly texts: string[];
  /** In the order of the file. */
  readonly problems: Problem[];
}

/** The scenarios of a file's text, which may hold several documents. Never throws. */
export function parseScenarios(text: string, file: string): ParsedScenarios {
  const { documents, problems } = readDocuments(text, file);
  const scenarios: Scenario[] = [];
  const texts: string[] = [];
  const all = [...problems];
  for (const { value, report, text: own } of documents) {
    const scenario = buildScenario(value, report);
    if (scenario !== undefined && scenarios.some(({ name }) => name === scenario.name))
      report.error(['metadata', 'name'], `the name "${scenario.name}" is used twice in this file`);
    if (scenario !== undefined) {
      scenarios.push(scenario);
      texts.push(own);
    }
    all.push(...report.problems);
  }
  if (documents.length === 0 && problems.length === 0) all.push(nothing(file));
  const failed = hasErrors(all);
  return { scenarios: failed ? [] : scenarios, texts: failed ? [] : texts, problems: ordered(all) };
}

/** The same for a file, which may be anything at all. Never throws. */
export function parseScenarioFile(file: string): ParsedScenarios {
  const read = readScenarioFile(file);
  return 'text' in read ? parseScenarios(read.text, file) : { scenarios: [], texts: [], problems: [read] };
}

/** The same for a document that is there as plain data: problems have a path and no line. */
export function parseScenarioObject(document: unknown, name: string): ParsedScenarios {
  const report = new Report(name, nowhere);
  const scenario = buildScenario(document, report);
  const failed = scenario === undefined || hasErrors(report.problems);
  return { scenarios: failed ? [] : [scenario], texts: [], problems: ordered(report.problems) };
}

function nothing(file: string): Problem {
  const message = 'expected a document with apiVersion: fake-csi/v1 and kind: Scenario, found an empty file';
  return { file, line: 1, column: 1, path: '', message, severity: 'error' };
}
