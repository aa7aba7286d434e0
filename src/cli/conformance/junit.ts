import { closingLine, countsOf } from '../../conformance/report';
import type { Result } from '../../conformance/run';
import { escapeXml } from '../../scenarios/verdict/junit';
import { printable } from '../../util/text';

/** JUnit XML as CI systems read it: one test suite, one test case a case. @param at when it was, ISO 8601 */
export function junitXml(driver: string, results: readonly Result[], at: string): string {
  const { failed, notApplicable, notRun } = countsOf(results);
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const counts = `tests="${results.length}" failures="${failed}" errors="0" skipped="${notApplicable + notRun}" time="${seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${attribute(`CSI conformance of ${driver}`)}" ${counts} timestamp="${at}">`,
    ...results.map(testCase),
    `    <system-out>${escapeXml(closingLine(results))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ case: { id, rpc, title }, status, reason, durationMs }: Result): string {
  const time = (durationMs / 1000).toFixed(3);
  const open = `    <testcase classname="${attribute(rpc)}" name="${attribute(`${id} ${title}`)}" time="${time}"`;
  if (status === 'passed') return `${open}/>`;
  const element = status === 'failed' ? 'failure' : 'skipped';
  return `${open}>\n      <${element} message="${attribute(reason)}"/>\n    </testcase>`;
}

/** Newlines in an attribute would become spaces (XML 1.0 §3.3.3): shown as what they are. */
const attribute = (text: string) => escapeXml(printable(text));
