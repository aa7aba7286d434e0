import type { Expectation } from '../model';
import { buildExpectations, buildScenario } from './build/scenario';
import { readDocuments } from './documents';
import { hasErrors, ordered, type Problem } from './problems';
import type { Report } from './report';
import { API_VERSION, EXPECTATIONS_KIND, KIND } from './schema/document';
import { quote, show } from './show';
import { didYouMean } from './suggest';

export interface ParsedExpectations {
  /** Empty when one of the problems is an error. */
  readonly expectations: Expectation[];
  readonly problems: Problem[];
}

const KINDS = [KIND, EXPECTATIONS_KIND];

/**
 * What a file expects: a list under `expect:` alone, a document of kind Expectations with `spec.expect`, or scenarios
 * with theirs. Never throws.
 */
export function parseExpectations(text: string, file: string): ParsedExpectations {
  const { documents, problems } = readDocuments(text, file);
  const all = [...problems];
  const expectations: Expectation[] = [];
  for (const { value, report } of documents) {
    expectations.push(...expectationsOf(value, report));
    all.push(...report.problems);
  }
  if (expectations.length === 0 && !hasErrors(all))
    all.push({
      file,
      line: 1,
      column: 1,
      path: '',
      message: 'expected a list of expectations under expect:, found none',
      severity: 'error',
    });
  return { expectations: hasErrors(all) ? [] : expectations, problems: ordered(all) };
}

function expectationsOf(value: unknown, report: Report): readonly Expectation[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report.error([], `expected a map with expect:, found ${show(value)}`);
    return [];
  }
  const map = value as Readonly<Record<string, unknown>>;
  if (map.kind === KIND) return buildScenario(value, report)?.expect ?? [];
  if (map.kind === undefined) {
    refuseOthers(map, ['expect'], [], report);
    return listAt(map, ['expect'], report);
  }
  if (map.kind !== EXPECTATIONS_KIND) {
    const hint = typeof map.kind === 'string' ? didYouMean(map.kind, KINDS) : '';
    report.error(['kind'], `expected ${KINDS.join(' or ')}, found ${show(map.kind)}${hint}`);
    return [];
  }
  if (map.apiVersion !== API_VERSION)
    report.error(['apiVersion'], `expected ${API_VERSION}, found ${show(map.apiVersion)}`);
  refuseOthers(map, ['apiVersion', 'kind', 'metadata', 'spec'], [], report);
  const spec = map.spec;
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) {
    report.error(['spec'], `expected a map with expect, found ${show(spec)}`);
    return [];
  }
  refuseOthers(spec as Record<string, unknown>, ['expect'], ['spec'], report);
  return listAt(spec as Record<string, unknown>, ['spec', 'expect'], report);
}

function listAt(
  map: Readonly<Record<string, unknown>>,
  path: string[],
  report: Report,
): readonly Expectation[] {
  if (Array.isArray(map.expect)) return buildExpectations(map.expect, report, path);
  report.error(path, `expected a list of expectations, found ${show(map.expect)}`);
  return [];
}

function refuseOthers(map: object, known: readonly string[], path: string[], report: Report): void {
  for (const key of Object.keys(map))
    if (!known.includes(key)) {
      const hint =
        path.length === 0 && key === 'spec' ? ` (kind: ${KIND} or ${EXPECTATIONS_KIND} is missing)` : '';
      report.errorAtKey([...path, key], `unknown key ${quote(key)}${hint || didYouMean(key, known)}`, path);
    }
}
