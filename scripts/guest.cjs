// npm run guest: tests in an emulated machine whose root has every capability and whose kernel is Debian's own.
// Hosts and containers often lack CAP_SYS_RESOURCE, without which the kernel does not grow a mounted ext4.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');

const { runUnits } = require('./guest/fleet.cjs');
const { writeInitramfs } = require('./guest/initramfs.cjs');
const { ensureKernel } = require('./guest/kernel.cjs');
const { ensurePackages } = require('./guest/packages.cjs');
const { commandPhase, judge, testPhases } = require('./guest/phases.cjs');
const { writeProject } = require('./guest/project.cjs');
const { ensureRootDisk } = require('./guest/root-disk.cjs');
const { prepareOrExit } = require('./lib/prepare.cjs');
const { Children, STOPPING } = require('./lib/process.cjs');
const { buildSanity } = require('./lib/sanity/binary.cjs');

const root = path.join(__dirname, '..');
const cache = path.join(root, '.cache/guest');

const USAGE = `usage: npm run guest                          the tests that depend on the machine, csi-sanity with ext4
       npm run guest -- --all                 all integration tests (half an hour), csi-sanity
       npm run guest -- PATTERN...            the integration tests whose path contains one of these
       npm run guest -- --phase sanity        one of the phases: sanity, integration
       npm run guest -- --run 'uname -a'      any command in the checkout; its status is this one's
options: --no-build          take dist and csi-sanity as they are
         --keep-log          keep the guests' consoles even when all went well
         --timeout SECONDS   for --run (default 600)
         --accel kvm         where KVM works: ten times faster`;

class UsageError extends Error {}

function parse(words) {
  const string = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const options = {
    run: string,
    phase: string,
    all: flag,
    timeout: { ...string, default: '600' },
    accel: { ...string, default: 'tcg' },
    'keep-log': flag,
    'no-build': flag,
    help: flag,
  };
  try {
    const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
    return { ...values, patterns: positionals };
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function choosePhases(options) {
  if (options.run !== undefined) {
    const seconds = Number(options.timeout);
    if (!(seconds > 0)) throw new UsageError(`--timeout: expected seconds, found "${options.timeout}"`);
    return [commandPhase(options.run, seconds * 1000)];
  }
  const phases = testPhases(root, options);
  const wanted = options.phase ?? (options.patterns.length > 0 ? 'integration' : undefined);
  if (wanted === undefined) return phases;
  const chosen = phases.filter(({ name }) => name === wanted);
  if (chosen.length === 0) throw new UsageError(`unknown phase "${wanted}"`);
  return chosen;
}

function say(line) {
  console.error(`guest: ${line}`);
}

/** A folder that belongs to this process; those of processes that were killed are removed. */
function makeScratch() {
  fs.mkdirSync(cache, { recursive: true });
  for (const name of fs.readdirSync(cache)) {
    const owner = /^run-(\d+)$/.exec(name)?.[1];
    if (owner !== undefined && !fs.existsSync(`/proc/${owner}`)) {
      fs.rmSync(path.join(cache, name), { recursive: true, force: true });
    }
  }
  const scratch = path.join(cache, `run-${process.pid}`);
  fs.rmSync(scratch, { recursive: true, force: true });
  fs.mkdirSync(scratch);
  return scratch;
}

async function buildProject(children) {
  await prepareOrExit(root);
  const { problem } = await buildSanity(children, root, say);
  if (problem !== null) throw new Error(`csi-sanity was not built: ${problem}`);
}

/** Makes what the machines are made of, or takes it from the cache. */
function makeParts(scratch, accelerator) {
  const packages = ensurePackages(say);
  const kernel = ensureKernel(cache, say);
  const parts = { kernel, packages, root, node: fs.realpathSync(process.execPath) };
  const rootDisk = ensureRootDisk(cache, scratch, parts, say);
  const initramfs = path.join(scratch, 'initramfs');
  writeInitramfs(initramfs, parts);
  const project = path.join(scratch, 'project.tar');
  writeProject(project, root);
  return { accelerator, kernel, rootDisk, initramfs, project };
}

/** Prints each phase's closing lines, and the sum as the last line. @returns {number} failures. */
function close(phases, { ended, problems }) {
  const total = { passed: 0, failed: problems.length, skipped: 0 };
  for (const problem of problems) console.log(`FAILED ${problem}`);
  for (const phase of phases) {
    const verdict = judge(phase, ended);
    const seconds = phase.units.reduce((time, { unit }) => time + (ended.get(unit)?.seconds ?? 0), 0);
    console.log(`\n${phase.name} (${seconds.toFixed(1)} s)`);
    for (const line of verdict.lines) console.log(line);
    for (const problem of verdict.problems) console.log(`FAILED ${problem}`);
    total.passed += verdict.passed;
    total.failed += verdict.failed + verdict.problems.length;
    total.skipped += verdict.skipped;
  }
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
  return total.failed;
}

/** The status of the command that --run gave; null when it did not come to one. */
function commandStatus({ ended, problems }) {
  const event = ended.get('run');
  return event === undefined || event.timedOut || problems.length > 0 ? null : event.status;
}

function keepLogs(files) {
  for (const file of files.filter((name) => fs.existsSync(name))) {
    const kept = path.join(cache, path.basename(file));
    fs.copyFileSync(file, kept);
    say(`a guest's console is in ${path.relative(process.cwd(), kept)}`);
  }
}

async function main(words) {
  const options = parse(words);
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`the guest runs on Linux on x86-64, this is ${process.platform} on ${process.arch}`);
  }
  const phases = choosePhases(options);
  const children = new Children();
  if (!options['no-build']) await buildProject(children);
  const scratch = makeScratch();
  const clean = () => fs.rmSync(scratch, { recursive: true, force: true });
  let stopped = false;
  for (const signal of STOPPING) {
    process.once(signal, () => {
      stopped = true;
    });
  }
  children.stopWithUs(clean);
  try {
    const parts = makeParts(scratch, options.accel);
    const units = phases.flatMap((phase) => phase.units);
    const outcome = await runUnits(children, parts, { units, scratch, live: options.run !== undefined, say });
    // Told to stop, we are leaving: the end of the machines is no result then.
    if (stopped) await new Promise(() => {});
    const status = options.run === undefined ? null : commandStatus(outcome);
    const failed = status === null ? close(phases, outcome) : 0;
    if (failed > 0 || options['keep-log']) keepLogs(outcome.consoleLogs);
    return status ?? (failed > 0 ? 1 : 0);
  } finally {
    clean();
  }
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error) => {
    const usage = error instanceof UsageError ? `\n${USAGE}` : '';
    console.error(`guest: ${error.message}${usage}`);
    process.exit(usage === '' ? 1 : 2);
  },
);
