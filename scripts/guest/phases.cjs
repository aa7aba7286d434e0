// What runs in the guest, and what its outcome comes to. A phase that ran less than it should must not look like one
// that passed: too few tests are a problem, and a problem is a failure.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

/** Emulated CPUs are an order of magnitude slower, and Jest's own limit is 5 s. */
const TEST_TIMEOUT_MS = 120_000;

const JEST_REPORT = '/tmp/jest-report.json';
const SANITY_SUMMARY = '/tmp/sanity-summary.json';

/**
 * @typedef {{ name: string, command: string, timeoutMs: number, resultFile?: string, judge: Function }} Phase `command`
 *   is a shell's, run in the checkout; `resultFile` is read when it has ended.
 * @typedef {{ passed: number, failed: number, skipped: number, lines: string[], problems: string[] }} Verdict `lines` are
 *   for people; each of `problems` counts as one failure besides `failed`.
 */

function testFiles(root) {
  const folder = path.join(root, 'test/integration');
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.test.ts'));
}

/** @returns {Verdict} of Jest's --json report. */
function judgeJest({ status, result }, files) {
  if (result === null) throw new Error('Jest left no report');
  const report = JSON.parse(result);
  const problems = [];
  if (files.length === 0) problems.push('there is no test file in test/integration');
  if (report.numTotalTestSuites !== files.length) {
    problems.push(`${files.length} files of tests must run, ${report.numTotalTestSuites} did`);
  }
  for (const file of report.testResults.filter((suite) => suite.assertionResults.length === 0)) {
    problems.push(`no test ran of ${file.name}`);
  }
  const { numPassedTests: passed, numFailedTests: failed, numTotalTests: total } = report;
  if (status !== 0 && failed === 0 && problems.length === 0)
    problems.push(`Jest ended with status ${status}`);
  const skipped = report.testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status === 'pending' || test.status === 'todo'),
  );
  return {
    passed,
    failed,
    skipped: skipped.length,
    lines: [
      ...skipped.map((test) => `skipped: ${test.fullName}`),
      `Test Suites: ${report.numPassedTestSuites} passed, ${report.numTotalTestSuites} total`,
      `Tests:       ${passed} passed, ${failed} failed, ${skipped.length} skipped, ${total} total`,
    ],
    problems,
  };
}

/** @returns {Verdict} of the summary that sanity.cjs writes for the one profile that was asked for. */
function judgeSanity({ status, result }, profile) {
  if (result === null) throw new Error('csi-sanity left no summary');
  const { profiles, leftOut } = JSON.parse(result);
  const ran = profiles.find(({ name }) => name === profile.name);
  if (ran === undefined) throw new Error(`profile ${profile.name} was left out: ${JSON.stringify(leftOut)}`);
  const problems = ran.expected.map((spec) => `failed, though every capability is there: ${spec}`);
  if (ran.failed === 0 && ran.passed < profile.passed) {
    problems.push(`${profile.passed} specs must pass, ${ran.passed} did`);
  }
  if (status !== 0 && ran.failed === 0 && problems.length === 0) {
    problems.push(`sanity.cjs ended with status ${status}`);
  }
  return { passed: ran.passed, failed: ran.failed, skipped: 0, lines: ran.closing, problems };
}

/** @returns {Phase[]} */
function testPhases(root) {
  const files = testFiles(root);
  const profile = require(path.join(root, 'test/sanity/profiles.cjs')).PROFILES.find(
    ({ name }) => name === 'ext4',
  );
  const jest = [
    'node node_modules/jest/bin/jest.js --selectProjects integration --runInBand --ci --no-watchman',
    // With the default, all of the checkout, most of the start goes into listing node_modules.
    '--roots test/integration --roots src',
    `--testTimeout=${TEST_TIMEOUT_MS} --json --outputFile=${JEST_REPORT} >/dev/null`,
  ];
  return [
    {
      name: 'integration',
      command: jest.join(' '),
      resultFile: JEST_REPORT,
      timeoutMs: 15 * 60_000,
      judge: (ended) => judgeJest(ended, files),
    },
    {
      name: 'sanity',
      command: `node scripts/sanity.cjs run ext4 --no-build --summary ${SANITY_SUMMARY}`,
      resultFile: SANITY_SUMMARY,
      timeoutMs: 15 * 60_000,
      judge: (ended) => judgeSanity(ended, profile),
    },
  ];
}

/** A command of the user's: it passes when its status is 0. @returns {Phase} */
function commandPhase(command, timeoutMs) {
  const judge = ({ status }) => ({
    passed: status === 0 ? 1 : 0,
    failed: status === 0 ? 0 : 1,
    skipped: 0,
    lines: [],
    problems: [],
  });
  return { name: 'run', command, timeoutMs, judge };
}

/** What is said of a phase that did not come to a verdict of its own. @returns {Verdict} */
function broken(problem) {
  return { passed: 0, failed: 0, skipped: 0, lines: [], problems: [problem] };
}

/** @returns {Verdict} of a phase; `ended` is the agent's event, undefined when there was none. */
function judge(phase, ended) {
  if (ended === undefined) return broken(`phase ${phase.name} did not end`);
  if (ended.timedOut) return broken(`phase ${phase.name} was not done after ${phase.timeoutMs / 1000} s`);
  try {
    return phase.judge(ended);
  } catch (error) {
    return broken(`phase ${phase.name} ended with status ${ended.status}: ${error.message}`);
  }
}

module.exports = { commandPhase, judge, testPhases };
