// The Jest projects.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { kustomizeProblem } = require('../kustomize.cjs');
const { findProgram, isInitialUserNamespace, isRoot, privateMounts } = require('../machine.cjs');
const { leftOut, result } = require('./result.cjs');

/** Long enough for a slow machine with a cold cache; a suite that hangs is ended then. */
const TIMEOUT_MS = 35 * 60_000;

/** Tests that Jest was told not to run: they need something this machine lacks, and their names say what. */
function skippedTests(report, root) {
  return report.testResults.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status === 'pending' || status === 'skipped' || status === 'todo')
      .map(({ fullName }) => `${path.relative(root, file.name)}: ${fullName}`),
  );
}

/** Reads what Jest wrote with --json. A file that failed before its first test counts as one failure. */
function readReport(report, root, { status, output, filtered }) {
  // With -t everything that does not match is "skipped": chosen, not left out.
  const skipped = filtered ? [] : skippedTests(report, root);
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  return result({
    passed: report.numPassedTests,
    failed: status !== 0 && failed === 0 ? 1 : failed,
    skipped: skipped.length,
    leftOut: skipped,
    output,
  });
}

/** Runs one project of jest.config.cjs; `before` are words to put before the command. */
async function runProject(
  { root, children, folder, patterns, jestArguments },
  project,
  { before = [], args = [] } = {},
) {
  const outputFile = path.join(folder, `jest-${project}.json`);
  const words = [
    ...before,
    process.execPath,
    path.join(root, 'node_modules/jest/bin/jest.js'),
    '--selectProjects',
    project,
    '--ci',
    '--json',
    `--outputFile=${outputFile}`,
    `--cacheDirectory=${path.join(root, '.cache/jest')}`,
    ...(patterns.length > 0 ? ['--passWithNoTests'] : []),
    ...args,
    ...jestArguments,
    // The option before takes one value only, so these cannot be mistaken for its values.
    ...patterns.map((pattern) => `--testPathPatterns=${pattern}`),
  ];
  const env = { ...process.env, TMPDIR: folder };
  const { status, output, timedOut } = await children.run(words[0], words.slice(1), {
    cwd: root,
    env,
    timeoutMs: TIMEOUT_MS,
  });
  const ended = timedOut ? `${output}\nended after ${TIMEOUT_MS / 60_000} minutes` : output;
  if (!fs.existsSync(outputFile)) return result({ failed: 1, output: ended });
  const report = JSON.parse(fs.readFileSync(outputFile, 'utf8'));
  return readReport(report, root, { status, output: withoutJson(ended), filtered: jestArguments.length > 0 });
}

/** With --json Jest also prints the report; only its talk is for people. */
function withoutJson(output) {
  return output
    .split('\n')
    .filter(
      (line) => !line.startsWith('{"numFailedTestSuites"') && !line.startsWith('Test results written to'),
    )
    .join('\n');
}

/** What a unit test needs whose file is called so (`*.linux.test.ts`), and why this machine has it not, or null. */
const NEEDS = {
  linux: () => (process.platform === 'linux' ? null : 'needs Linux'),
  root: () => (isRoot() ? null : 'becomes another user: needs root'),
  kustomize: (root) => kustomizeProblem(root),
};

/** Jest leaves a core to whoever watches: half of a machine of two. */
async function unit(context, before) {
  const problems = Object.entries(NEEDS)
    .map(([need, problem]) => ({ need, problem: problem(context.root) }))
    .filter(({ problem }) => problem !== null);
  const ignored = problems.map(({ need }) => `--testPathIgnorePatterns=\\.${need}\\.test\\.ts$`);
  const found = await runProject(context, 'unit', { before, args: ['--maxWorkers=100%', ...ignored] });
  const reasons = problems.map(({ need, problem }) => `unit tests *.${need}.test.ts: ${problem}`);
  return { ...found, skipped: found.skipped + reasons.length, leftOut: [...found.leftOut, ...reasons] };
}

/** Programs that the tests on real filesystems run, or have the driver run: which package has them. */
const TOOLS = {
  'mkfs.ext4': 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  'mkfs.btrfs': 'btrfs-progs',
  mkswap: 'util-linux',
};

/**
 * Real mounts and loop devices: root only, and one file at a time, since the loop devices are the machine's and
 * tests compare the list of them.
 */
function integration(context, before) {
  if (!isRoot()) return leftOut('real mounts and loop devices need root');
  if (!isInitialUserNamespace()) return leftOut('root of a user namespace may mount no device');
  if (before.length === 0)
    return leftOut('unshare -m is refused: mounting needs CAP_SYS_ADMIN (and util-linux)');
  const missing = Object.keys(TOOLS).filter((program) => findProgram(program) === null);
  if (missing.length > 0) {
    const packages = [...new Set(missing.map((program) => TOOLS[program]))].join(' ');
    return leftOut(`${missing.join(', ')} not installed here: apt-get install ${packages}`);
  }
  return runProject(context, 'integration', { before, args: ['--runInBand'] });
}

/**
 * One phase for each project of jest.config.cjs, in its order: a new project is never forgotten. As root each has a
 * mount namespace of its own, so that a run that is killed leaves nothing.
 */
function jestPhases(root) {
  const names = require(path.join(root, 'jest.config.cjs')).projects.map(({ displayName }) => displayName);
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (context) => {
        const before = (isRoot() && privateMounts()) || [];
        if (name === 'integration') return integration(context, before);
        if (name === 'unit') return unit(context, before);
        return runProject(context, name, { before });
      },
    ]),
  );
}

module.exports = { jestPhases };
