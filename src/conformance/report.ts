import { printable, table } from '../util/text';
import type { Case } from './case';
import { needsText, type Result, type Run, type Status } from './run';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly notRun: number;
}

export function countsOf(results: readonly Result[]): Counts {
  const count = (status: Status) => results.filter((result) => result.status === status).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    notApplicable: count('not applicable'),
    notRun: count('not run'),
  };
}

/** `130 passed, 0 failed, 8 not applicable`, and how many were not run, if any. */
export function closingLine(results: readonly Result[]): string {
  const { passed, failed, notApplicable, notRun } = countsOf(results);
  const rest = notRun > 0 ? `, ${notRun} not run` : '';
  return `${passed} passed, ${failed} failed, ${notApplicable} not applicable${rest}`;
}

/** What brought the driver down for good, and what to do; undefined when it answers. */
export function goneText(results: readonly Result[]): string | undefined {
  const last = results.find(({ isDriverGone }) => isDriverGone);
  if (last === undefined) return undefined;
  return `Nobody answers since ${last.case.id}: the driver ended, or closed its socket, and did not come back. Run it under a supervisor that starts it again, or leave the case out (--skip ${last.case.id}), to see the rest.`;
}

export function resultsTable(results: readonly Result[]): string {
  return table(
    ['CASE', 'RPC', 'LEVEL', 'OUTCOME', 'WHAT'],
    results.map(({ case: { id, rpc, level, title }, status, reason }) => [
      id,
      rpc,
      level,
      status,
      status === 'not applicable' || status === 'not run' ? `${title} [${reason}]` : title,
    ]),
  );
}

/** What each failed case called, expected and found. */
export function failuresText(results: readonly Result[]): string {
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ case: { id, rpc, title }, failure }) =>
      [
        `${id} ${rpc}: ${title}`,
        `  called    ${failure?.called || '(no call)'}`,
        `  expected  ${failure?.expected}`,
        `  found     ${failure?.found}`,
      ]
        .map(printable)
        .join('\n'),
    )
    .join('\n\n');
}

export function leftBehindText(results: readonly Result[]): string {
  return results
    .flatMap(({ case: { id }, leftBehind }) =>
      leftBehind.map((line) => printable(`${id} left behind: ${line}`)),
    )
    .join('\n');
}

/** For programs. */
export function resultsJson({ facts, results }: Run): object {
  return {
    driver: { name: facts.name, version: facts.version },
    counts: countsOf(results),
    cases: results.map(({ case: one, status, reason, failure, durationMs, leftBehind }) => ({
      id: one.id,
      rpc: one.rpc,
      level: one.level,
      section: one.section,
      title: one.title,
      status,
      reason,
      ...(failure && { called: failure.called, expected: failure.expected, found: failure.found }),
      durationMs: Math.round(durationMs),
      leftBehind,
    })),
  };
}

export function casesTable(cases: readonly Case[]): string {
  return table(
    ['CASE', 'RPC', 'LEVEL', 'SECTION', 'NEEDS', 'WHAT'],
    cases.map((one) => [one.id, one.rpc, one.level, one.section, needsText(one), one.title]),
  );
}
