// npm test: installs, builds, and tests everything this machine can; says what it left out and why.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { detachLoops } = require('./lib/loop-devices.cjs');
const { leftBehind, snapshot } = require('./lib/machine.cjs');
const { cases } = require('./lib/phases/cases.cjs');
const { lint, types } = require('./lib/phases/checks.cjs');
const { e2e } = require('./lib/phases/e2e.cjs');
const { endurance } = require('./lib/phases/endurance.cjs');
const { guest } = require('./lib/phases/guest.cjs');
const { jestPhases } = require('./lib/phases/jest.cjs');
const { peer } = require('./lib/phases/peer.cjs');
const { check } = require('./lib/phases/result.cjs');
const { sanity } = require('./lib/phases/sanity.cjs');
const { prepareOrExit } = require('./lib/prepare.cjs');
const { Children } = require('./lib/process.cjs');

const root = path.join(__dirname, '..');

const JEST = jestPhases(root);

/** In the order they run: what is quick to fail comes first. */
const PHASES = { lint, types, ...JEST, cases, peer, endurance, sanity, e2e, guest };

const USAGE = `usage: npm test -- [--only PHASE[,PHASE...]] [pattern of test files...] [-- arguments for jest]
phases: ${Object.keys(PHASES).join(', ')}
FAKE_CSI_REQUIRE=all: whatever is left out or skipped is a failure (as in .ci/run)`;

class UsageError extends Error {}

function phaseNames(value) {
  const names = (value ?? '').split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !(name in PHASES));
  if (unknown !== undefined) throw new UsageError(`--only: unknown phase "${unknown}"`);
  if (names.length === 0) throw new UsageError('--only: expected a phase after it');
  return names;
}

function parse(words) {
  const split = words.indexOf('--');
  const own = split < 0 ? words : words.slice(0, split);
  const options = { only: [], patterns: [], jestArguments: split < 0 ? [] : words.slice(split + 1) };
  for (let i = 0; i < own.length; i++) {
    if (own[i] === '--only') options.only.push(...phaseNames(own[++i]));
    else if (own[i].startsWith('--only=')) options.only.push(...phaseNames(own[i].slice('--only='.length)));
    else if (own[i].startsWith('-')) throw new UsageError(`unknown option "${own[i]}"`);
    else options.patterns.push(own[i]);
  }
  const jestOnly = options.patterns.length > 0 || options.jestArguments.length > 0;
  if (jestOnly && options.only.length === 0) options.only = Object.keys(JEST);
  return options;
}

function asNumbers({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Where everything is required, what was not run has failed, unless another phase covers it. */
function required(result) {
  const strict = result.skipped - result.excused;
  return { ...result, failed: result.failed + strict, skipped: result.excused };
}

/** Runs a phase and shows one line, or, when it failed, everything it said. */
async function runPhase(name, phase, context) {
  const began = Date.now();
  if (process.stdout.isTTY) process.stdout.write(`${name} …`);
  const found = await phase(context);
  const result = context.everything ? required(found) : found;
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  if (found.failed > 0) console.log(found.output.trimEnd());
  console.log(`${name.padEnd(13)}${asNumbers(result)} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  return { name, ...result };
}

/** The last check: mounts, loop devices and processes are as they were. */
async function leaks(before, { folder, everything }) {
  const left = await leftBehind(before, { folder, everywhere: everything });
  return check({ status: left.length, output: left.map((line) => `left behind: ${line}`).join('\n') });
}

async function main(words) {
  const options = parse(words);
  const children = new Children();
  await prepareOrExit(root);
  // Short: paths of Unix sockets below it must stay under 108 bytes.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fcsi-test-'));
  const before = snapshot();
  const clean = () => {
    detachLoops(before.loops, folder);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  children.stopWithUs(clean);
  const context = { root, children, folder, ...options, everything: process.env.FAKE_CSI_REQUIRE === 'all' };
  const results = [];
  for (const [name, phase] of Object.entries(PHASES)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    results.push(await runPhase(name, phase, context));
  }
  const last = await runPhase('leaks', () => leaks(before, context), context);
  // A mount that is still there would be emptied through it.
  if (last.failed === 0) clean();
  results.push(last);
  return results;
}

function close(results) {
  const lines = results.flatMap(({ name, leftOut }) => leftOut.map((line) => `  ${name}: ${line}`));
  if (lines.length > 0) console.log(`\nleft out:\n${lines.join('\n')}`);
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const total = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
  console.log(`\n${asNumbers(total)}`);
  return total.failed > 0 ? 1 : 0;
}

main(process.argv.slice(2)).then(
  (results) => process.exit(close(results)),
  (error) => {
    if (!(error instanceof UsageError)) throw error;
    console.error(`test: ${error.message}\n${USAGE}`);
    process.exit(2);
  },
);
