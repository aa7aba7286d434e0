// csi-sanity against our driver: `build`, `run [profile…] [--keep] [--no-build] [-- ginkgo arguments]`, `list`.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { detachLoops, loopDevices } = require('./lib/loop-devices.cjs');
const { isRoot, privateMounts } = require('./lib/machine.cjs');
const { prepareOrExit } = require('./lib/prepare.cjs');
const { Children } = require('./lib/process.cjs');
const { buildSanity, paths } = require('./lib/sanity/binary.cjs');
const { profileProblem, runProfile } = require('./lib/sanity/profile-run.cjs');
const { PROFILES } = require('../test/sanity/profiles.cjs');

const root = path.join(__dirname, '..');

/** Set for the copy of this script that runs inside its own mount namespace: `root` or `user`. */
const INSIDE = 'FAKE_CSI_SANITY_MOUNTS';

const USAGE = `usage: sanity.cjs build
       sanity.cjs list
       sanity.cjs run [profile...] [--keep] [--no-build] [--summary FILE] [-- arguments for csi-sanity]
profiles: ${PROFILES.map((profile) => profile.name).join(', ')} (default: all)`;

class UsageError extends Error {}

/** The words after `run`. */
function parseRun(words) {
  const split = words.indexOf('--');
  const own = split < 0 ? words : words.slice(0, split);
  const options = {
    profiles: [],
    extra: split < 0 ? [] : words.slice(split + 1),
    keep: false,
    build: true,
    summary: null,
  };
  for (let i = 0; i < own.length; i++) {
    if (own[i] === '--keep') options.keep = true;
    else if (own[i] === '--no-build') options.build = false;
    else if (own[i] === '--summary') {
      options.summary = own[++i];
      if (options.summary === undefined) throw new UsageError('--summary: expected a file name after it');
    } else {
      const profile = PROFILES.find(({ name }) => name === own[i]);
      if (profile === undefined) throw new UsageError(`unknown profile or option "${own[i]}"`);
      options.profiles.push(profile);
    }
  }
  if (options.profiles.length === 0) options.profiles = PROFILES;
  return options;
}

async function build(children) {
  const { binary, problem } = await buildSanity(children, root, (line) => console.error(`sanity: ${line}`));
  if (problem === null) return binary;
  console.error(problem.trimEnd());
  console.error('sanity: csi-sanity was not built');
  process.exit(1);
}

/** What is seen of a profile that was run: csi-sanity's own closing lines, and everything when it failed. */
function show(result) {
  const seconds = (result.ms / 1000).toFixed(1);
  if (result.failed > 0) {
    console.log(result.output.trimEnd());
    console.log(`-- the driver's log ends:\n${result.log}\n--`);
  }
  console.log(`\n${result.name}: ${result.what} (${seconds} s)`);
  for (const line of result.closing) console.log(line);
  for (const name of result.expected) {
    console.log(`  fails here, as it must without CAP_SYS_RESOURCE (npm run guest has it): ${name}`);
  }
  for (const problem of result.problems) console.log(`  FAILED ${problem}`);
}

function table(results, leftOut) {
  const rows = results.map((result) => {
    const notes = result.expected.length > 0 ? `, ${result.expected.length} needs CAP_SYS_RESOURCE` : '';
    return [result.name, `${result.passed} passed, ${result.failed} failed${notes}`];
  });
  rows.push(...leftOut.map(({ name, reason }) => [name, `left out: ${reason}`]));
  console.log('');
  for (const [name, text] of rows) console.log(`${name.padEnd(11)}${text}`);
}

async function run(children, options, mounting) {
  const binary = options.build ? await build(children) : paths(root).binary;
  const results = [];
  const leftOut = [];
  for (const profile of options.profiles) {
    const reason = profileProblem(profile, mounting);
    if (reason !== null) {
      leftOut.push({ name: profile.name, reason });
      continue;
    }
    const result = await runProfile(children, {
      root,
      binary,
      profile,
      extra: options.extra,
      keep: options.keep,
    });
    show(result);
    results.push(result);
  }
  table(results, leftOut);
  if (options.summary !== null) {
    const profiles = results.map(({ output, log, ...rest }) => rest);
    fs.writeFileSync(options.summary, JSON.stringify({ profiles, leftOut }));
  }
  // Asked by name and not run is not a success.
  const refused = options.profiles !== PROFILES && leftOut.length > 0;
  return results.some((result) => result.failed > 0) || results.length === 0 || refused ? 1 : 0;
}

/**
 * Runs the same command line inside a mount namespace of its own, with its temporary files in one folder: nothing
 * outlives even a run that is stopped.
 */
async function runInside(children, words, { keep }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fcsi-'));
  const before = loopDevices();
  const clean = () => {
    detachLoops(before, folder);
    if (!keep) fs.rmSync(folder, { recursive: true, force: true });
  };
  const release = children.stopWithUs(clean);
  const args = [...words.slice(1), process.execPath, __filename, ...process.argv.slice(2)];
  const env = { ...process.env, TMPDIR: folder, [INSIDE]: isRoot() ? 'root' : 'user' };
  const { status } = await children.run(words[0], args, { stdio: 'inherit', env });
  release();
  clean();
  return status;
}

async function main([command, ...given]) {
  const children = new Children();
  if (command === 'build') {
    await build(children);
    return 0;
  }
  if (command === 'list') {
    for (const profile of PROFILES) console.log(`${profile.name.padEnd(11)}${profile.what}`);
    return 0;
  }
  if (command !== 'run')
    throw new UsageError(command === undefined ? 'no command' : `unknown command "${command}"`);
  const options = parseRun(given);
  if (process.env[INSIDE] !== undefined) {
    children.stopWithUs();
    return run(children, options, process.env[INSIDE]);
  }
  if (options.build) {
    await prepareOrExit(root);
    await build(children);
  }
  const words = privateMounts();
  if (words !== null) return runInside(children, words, options);
  children.stopWithUs();
  return run(children, options, 'none');
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error) => {
    if (!(error instanceof UsageError)) throw error;
    console.error(`sanity: ${error.message}\n${USAGE}`);
    process.exit(2);
  },
);
