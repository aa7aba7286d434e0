// One profile from an empty folder to an empty folder.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { CAP_SYS_RESOURCE, findProgram, hasCapability, leftBehind, snapshot } = require('../machine.cjs');
const { DriverRun } = require('./driver.cjs');
const { runSuite } = require('./suite.cjs');

/** The value in test/sanity/secrets.yaml. */
const SECRET = 'do-not-print-5f0c2a';

/** Why a profile cannot run here, as one sentence; null when it can. `mounting`: 'root', 'user' (namespace) or 'none'. */
function profileProblem(profile, mounting) {
  for (const need of profile.needs) {
    if (need === 'root' && mounting !== 'root') return 'loop devices need root';
    if (need === 'mount' && mounting === 'none')
      return 'mounting needs root or a user namespace, and neither is to be had';
    if (need !== 'root' && need !== 'mount' && findProgram(need) === null) return `${need} is not installed`;
  }
  return null;
}

/** Files below `folder` that hold the secret csi-sanity sent. */
function filesWithSecret(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ndjson|log|json)$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => fs.readFileSync(file, 'utf8').includes(SECRET));
}

/** Records of volumes, snapshots, stages and publications that are still in a data folder. */
function recordsLeft(dataDir) {
  const list = (...names) => {
    const folder = path.join(dataDir, ...names);
    return fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(...names, name)) : [];
  };
  const nodes = list('nodes').flatMap((node) => [...list(node, 'stages'), ...list(node, 'publications')]);
  return [...list('volumes'), ...list('snapshots'), ...nodes];
}

/**
 * @typedef {{ name: string, what: string, passed: number, failed: number, expected: string[], problems: string[], closing: string[],
 *   output: string, log: string, ms: number }} ProfileResult `expected` names the specs that failed for a reason
 *   this machine gives; they count neither as passed nor as failed. Each line of `problems` is a failure.
 */

/**
 * Judges a run: the specs that must pass passed, the exceptions are the known ones.
 * @param {boolean} whole false when the caller's own arguments chose among the specs.
 */
function judge(profile, { report, closing }, whole) {
  if (report === null || closing.length === 0) {
    return { passed: 0, failed: 1, expected: [], problems: ['csi-sanity ended without a verdict'] };
  }
  const excused = hasCapability(CAP_SYS_RESOURCE) ? [] : profile.onlyWithSysResource;
  const expected = report.failures
    .filter((failure) => excused.includes(failure.spec))
    .map((failure) => failure.name);
  const failures = report.failures.filter((failure) => !excused.includes(failure.spec));
  const problems = failures.map((failure) => `${failure.name}: ${failure.message.split('\n')[0]}`);
  const ran = report.passed + report.failures.length;
  const missing = whole ? Math.max(0, profile.passed - ran) : 0;
  if (missing > 0) problems.push(`${profile.passed} specs must run, ${ran} did`);
  return { passed: report.passed, failed: failures.length + missing, expected, problems };
}

/** The driver's start, the suite and the driver's end, with everything that went wrong in them. */
async function drive(children, driver, { root, binary, folder, profile, extra }) {
  try {
    await driver.start(root, profile.serve);
  } catch (error) {
    return {
      verdict: { passed: 0, failed: 1, expected: [], problems: [error.message] },
      output: '',
      closing: [],
    };
  }
  const args = [...profile.sanity, ...extra];
  const suite = await runSuite(children, { binary, socket: driver.socket, folder, args, abort: driver.end });
  return { verdict: judge(profile, suite, extra.length === 0), output: suite.output, closing: suite.closing };
}

/** What must not be there after a run, one line each. */
async function remains(before, folder, dataDir) {
  const left = await leftBehind(before, { folder, everywhere: false });
  return {
    // A mount that is still there would be emptied through it.
    removable: left.length === 0,
    problems: [
      ...recordsLeft(dataDir).map((record) => `left in the data folder: ${record}`),
      ...left.map((line) => `left behind: ${line}`),
      ...filesWithSecret(folder).map((file) => `a secret in clear in ${path.relative(folder, file)}`),
    ],
  };
}

/**
 * Runs one profile.
 * @param {{ root: string, binary: string, profile: object, extra: string[], keep: boolean }} options `keep` leaves
 *   the folder of the run and says where it is.
 * @returns {Promise<ProfileResult>}
 */
async function runProfile(children, options) {
  const began = Date.now();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fcsi-'));
  const before = snapshot();
  const driver = new DriverRun(children, folder);
  const { verdict, output, closing } = await drive(children, driver, { ...options, folder });
  const ending = await driver.stop();
  const { removable, problems } = await remains(before, folder, driver.dataDir);
  const log = driver.logTail();
  if (options.keep) console.log(`kept: ${folder}`);
  else if (removable) fs.rmSync(folder, { recursive: true, force: true });
  return {
    name: options.profile.name,
    what: options.profile.what,
    passed: verdict.passed,
    failed: verdict.failed + ending.length + problems.length,
    expected: verdict.expected,
    problems: [...verdict.problems, ...ending, ...problems],
    closing,
    output,
    log,
    ms: Date.now() - began,
  };
}

module.exports = { profileProblem, runProfile };
