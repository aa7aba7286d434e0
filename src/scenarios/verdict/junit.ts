import type { ExpectationResult } from './evaluate';
import { callLine } from './text';
import type { Verdict } from './verify';

/**
 * JUnit XML as CI systems read it: one test suite, one test case an expectation.
 * @param suite name of the scenario
 * @param at when the verdict was given, ISO 8601
 */
export function junitXml(suite: string, verdict: Verdict, at: string): string {
  const { results, durationMs } = verdict;
  const failed = results.filter(isFailure).length;
  const skipped = results.filter(isSkipped).length;
  const seconds = (durationMs / 1000).toFixed(3);
  const counts = `tests="${results.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${attribute(suite)}" ${counts} timestamp="${attribute(at)}">`,
    ...results.map((result) => testCase(suite, result)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** What an optional expectation lacks is told, and fails nothing. */
const isSkipped = ({ status, expectation }: ExpectationResult) =>
  status === 'skipped' || (expectation.optional && status !== 'passed');

const isFailure = (result: ExpectationResult) => result.status !== 'passed' && !isSkipped(result);

function testCase(suite: string, result: ExpectationResult): string {
  const { expectation, status, summary } = result;
  const open = `    <testcase classname="${attribute(suite)}" name="${attribute(expectation.source)}"`;
  if (isFailure(result)) {
    const text = escapeXml(detail(result));
    return `${open}>\n      <failure type="${status}" message="${attribute(summary)}">${text}</failure>\n    </testcase>`;
  }
  if (isSkipped(result))
    return `${open}>\n      <skipped message="${attribute(`${status}: ${summary}`)}"/>\n    </testcase>`;
  return `${open}/>`;
}

function detail({ expectation, summary, nearMiss, evidence }: ExpectationResult): string {
  const { line, column } = expectation.at;
  return [
    summary,
    ...(nearMiss === undefined ? [] : [`near miss: ${nearMiss}`]),
    `expected at ${line}:${column}`,
    ...evidence.map(callLine),
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/**
 * XML 1.0 knows no way to write most control characters, not even escaped, nor half of a surrogate pair (§2.2 Char): they
 * are shown as \\u followed by their number.
 */
export function escapeXml(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replace(FORBIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Newlines in an attribute become spaces when it is read, unless they are written as references (§3.3.3). */
function attribute(text: string): string {
  return escapeXml(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const FORBIDDEN = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
