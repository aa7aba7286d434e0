// What runs in the guest, and what its outcome comes to. A phase that ran less than it should must not look like one
// that passed: too few tests are a problem, and a problem is a failure.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

/** Emulated CPUs are an order of magnitude slower, and Jest's own limit is 5 s. */
const TEST_TIMEOUT_MS = 120_000;

const UNIT_TIMEOUT_MS = 15 * 60_000;

/** Each start of Jest takes ten seconds there: small files share one, and a unit still ends in a few minutes. */
const FILES_PER_UNIT = 4;

const INTEGRATION_TESTS = 'test/integration';
const HOST_TESTS = 'test/integration/host/';

const JEST_REPORT = '/tmp/jest-report.json';
const SANITY_SUMMARY = '/tmp/sanity-summary.json';

/**
 * @typedef {{ unit: string, command: string, timeoutMs: number, resultFile?: string }} Unit what one machine runs in one
 *   go; see inside/agent.cjs.
 * @typedef {{ name: string, units: Unit[], judge: (ended: object[]) => Verdict }} Phase `judge` is given the agent's events
 *   of all units.
 * @typedef {{ passed: number, failed: number, skipped: number, lines: string[], problems: string[] }} Verdict `lines` are
 *   for people; each of `problems` counts as one failure besides `failed`.
 */

/** What a unit wrote to its result file. */
function resultOf({ unit, status, result }) {
  if (result === null) throw new Error(`${unit} ended with status ${status} and left no result`);
  return JSON.parse(result);
}

function sum(reports, key) {
  return reports.reduce((total, report) => total + report[key], 0);
}

/** Of Jest's --json reports. @returns {Verdict} */
function judgeJest(ended, files) {
  const reports = ended.map(resultOf);
  const suites = reports.flatMap((report) => report.testResults);
  const problems = suites
    .filter(
      (suite) =>
        suite.status === 'failed' && suite.assertionResults.every((test) => test.status !== 'failed'),
    )
    .map((suite) => `${suite.name}: ${suite.message.split('\n')[0]}`);
  if (suites.length !== files.length) {
    problems.push(`${files.length} files of tests must run, ${suites.length} did`);
  }
  const failed = sum(reports, 'numFailedTests');
  const dead = ended.find(({ status }) => status !== 0);
  if (dead !== undefined && failed === 0 && problems.length === 0) {
    problems.push(`${dead.unit} ended with status ${dead.status}`);
  }
  const skipped = suites.flatMap((suite) =>
    suite.assertionResults.filter(({ status }) => status === 'pending' || status === 'todo'),
  );
  const passed = sum(reports, 'numPassedTests');
  const lines = [
    ...skipped.map((test) => `skipped: ${test.fullName}`),
    `Test Suites: ${sum(reports, 'numPassedTestSuites')} passed, ${suites.length} total`,
    `Tests:       ${passed} passed, ${failed} failed, ${skipped.length} skipped, ${sum(reports, 'numTotalTests')} total`,
  ];
  return { passed, failed, skipped: skipped.length, lines, problems };
}

/**
 * The files of tests whose outcome depends on the kernel or on a capability. The others take half an hour in the guest,
 * and what they add is tested on the host.
 */
function dependsOnMachine(root, file) {
  return (
    file.startsWith(HOST_TESTS) || fs.readFileSync(path.join(root, file), 'utf8').includes('CAP_SYS_RESOURCE')
  );
}

/** Paths from the root of the files of tests that are chosen. */
function chooseFiles(root, { all, patterns }) {
  return fs
    .readdirSync(path.join(root, INTEGRATION_TESTS), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(INTEGRATION_TESTS, name))
    .filter((file) =>
      patterns.length > 0
        ? patterns.some((pattern) => file.includes(pattern))
        : all || dependsOnMachine(root, file),
    )
    .sort();
}

/** Tests with a whole driver take minutes and get a unit each, first; those of the host's parts share units. */
function groupFiles(files) {
  const groups = files.filter((file) => !file.startsWith(HOST_TESTS)).map((file) => [file]);
  const small = files.filter((file) => file.startsWith(HOST_TESTS));
  while (small.length > 0) groups.push(small.splice(0, FILES_PER_UNIT));
  return groups;
}

/** @returns {Phase} */
function integrationPhase(root, selection) {
  const files = chooseFiles(root, selection);
  if (files.length === 0) {
    throw new Error(`no file of tests in ${INTEGRATION_TESTS} matches: ${selection.patterns.join(' ')}`);
  }
  const command = [
    'node node_modules/jest/bin/jest.js --selectProjects integration --runInBand --ci --no-watchman',
    // With the default, all of the checkout, most of the start goes into listing node_modules.
    `--roots ${INTEGRATION_TESTS} --roots src`,
    `--testTimeout=${TEST_TIMEOUT_MS} --json --outputFile=${JEST_REPORT} --runTestsByPath`,
  ].join(' ');
  const groups = groupFiles(files);
  const units = groups.map((group, i) => ({
    unit: `integration ${i + 1}/${groups.length}`,
    command: `${command} ${group.join(' ')} >/dev/null`,
    resultFile: JEST_REPORT,
    timeoutMs: UNIT_TIMEOUT_MS,
  }));
  return { name: 'integration', units, judge: (ended) => judgeJest(ended, files) };
}

/** Of the summary that sanity.cjs writes, for the one profile that was asked for. @returns {Verdict} */
function judgeSanity([ended], profile) {
  const { profiles, leftOut } = resultOf(ended);
  const ran = profiles.find(({ name }) => name === profile.name);
  if (ran === undefined) throw new Error(`profile ${profile.name} was left out: ${JSON.stringify(leftOut)}`);
  const problems = ran.expected.map((spec) => `failed, though every capability is there: ${spec}`);
  if (ran.failed === 0 && ran.passed < profile.passed) {
    problems.push(`${profile.passed} specs must pass, ${ran.passed} did`);
  }
  if (ended.status !== 0 && ran.failed === 0 && problems.length === 0) {
    problems.push(`sanity.cjs ended with status ${ended.status}`);
  }
  return { passed: ran.passed, failed: ran.failed, skipped: 0, lines: ran.closing, problems };
}

/** @returns {Phase} */
function sanityPhase(root) {
  const { PROFILES } = require(path.join(root, 'test/sanity/profiles.cjs'));
  const profile = PROFILES.find(({ name }) => name === 'ext4');
  const unit = {
    unit: 'sanity',
    command: `node scripts/sanity.cjs run ${profile.name} --no-build --summary ${SANITY_SUMMARY}`,
    resultFile: SANITY_SUMMARY,
    timeoutMs: UNIT_TIMEOUT_MS,
  };
  return { name: 'sanity', units: [unit], judge: (ended) => judgeSanity(ended, profile) };
}

/**
 * Long units come first: what comes last should be short.
 * @param {{ all: boolean, patterns: string[] }} selection which of the integration tests: all, or those whose path contains
 *   one of the patterns; otherwise the ones that depend on the machine.
 * @returns {Phase[]}
 */
function testPhases(root, selection) {
  return [sanityPhase(root), integrationPhase(root, selection)];
}

/** A command of the user's: it passes when its status is 0. @returns {Phase} */
function commandPhase(command, timeoutMs) {
  const judge = ([{ status }]) => ({
    passed: status === 0 ? 1 : 0,
    failed: status === 0 ? 0 : 1,
    skipped: 0,
    lines: [],
    problems: [],
  });
  return { name: 'run', units: [{ unit: 'run', command, timeoutMs }], judge };
}

/** Of a phase; `ended` are the agent's events by unit. @returns {Verdict} */
function judge(phase, ended) {
  const problems = phase.units
    .filter(({ unit }) => ended.get(unit)?.timedOut ?? true)
    .map(({ unit, timeoutMs }) =>
      ended.has(unit) ? `${unit} was not done after ${timeoutMs / 1000} s` : `${unit} did not end`,
    );
  const there = phase.units.filter(({ unit }) => ended.has(unit) && !ended.get(unit).timedOut);
  const nothing = { passed: 0, failed: 0, skipped: 0, lines: [], problems };
  if (there.length === 0) return nothing;
  try {
    const verdict = phase.judge(there.map(({ unit }) => ended.get(unit)));
    return { ...verdict, problems: [...problems, ...verdict.problems] };
  } catch (error) {
    return { ...nothing, problems: [...problems, error.message] };
  }
}

module.exports = { commandPhase, judge, testPhases };
