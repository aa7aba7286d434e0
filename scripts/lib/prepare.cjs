// Brings node_modules and dist up to date, and does nothing when they are.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { Children } = require('./process.cjs');

/** Modification time in ms, or null when there is nothing at `file`. */
function modified(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

/** The latest modification below `dir`. Folders count: one that lost a file is newer too. */
function latestBelow(dir) {
  let latest = modified(dir) ?? 0;
  for (const entry of fs.readdirSync(dir, { recursive: true })) {
    latest = Math.max(latest, modified(path.join(dir, entry)) ?? 0);
  }
  return latest;
}

/** npm writes node_modules/.package-lock.json at the end of each install: its time is the install's. */
function installIsStale(root) {
  const installed = modified(path.join(root, 'node_modules/.package-lock.json'));
  return installed === null || installed < modified(path.join(root, 'package-lock.json'));
}

/** What a build is made with, beside src. */
const INPUTS = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
  'scripts/build.cjs',
  'scripts/lib/compile-bundle.cjs',
  'scripts/lib/node-flags.cjs',
];

/** dist/.built carries the time at which the last good build began: a file saved during it is newer. */
function buildIsStale(root) {
  const built = modified(path.join(root, 'dist/.built'));
  if (built === null || modified(path.join(root, 'dist/cli/main.js')) === null) return true;
  const changed = INPUTS.map((name) => modified(path.join(root, name)) ?? 0);
  return Math.max(latestBelow(path.join(root, 'src')), ...changed) > built;
}

/** A step that failed; `output` is what the tool said. */
class PrepareError extends Error {
  constructor(message, output) {
    super(message);
    this.output = output;
  }
}

/**
 * `npm ci --ignore-scripts`: nothing that is installed may run a program of its own, and nothing needs to (koffi
 * and the native tools ship prebuilt).
 * @throws PrepareError
 */
async function install(root, { say, children }) {
  if (!installIsStale(root)) return;
  say('installing dependencies (npm ci)');
  const { status, output } = await children.run(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      cwd: root,
    },
  );
  if (status !== 0) throw new PrepareError(`npm ci failed with status ${status}`, output);
  // npm keeps the file's own time when nothing changed in it; the install is as new as now.
  fs.utimesSync(path.join(root, 'node_modules/.package-lock.json'), new Date(), new Date());
}

/** `npm run build`. @throws PrepareError */
async function build(root, { say, children }) {
  if (!buildIsStale(root)) return;
  say('building');
  const began = new Date();
  const words = [path.join(__dirname, '../build.cjs'), root];
  const { status, output } = await children.run(process.execPath, words, { cwd: root });
  if (status !== 0) throw new PrepareError(`the build failed with status ${status}`, output);
  const stamp = path.join(root, 'dist/.built');
  fs.writeFileSync(stamp, '');
  fs.utimesSync(stamp, began, began);
}

/**
 * Installs and builds, with short progress lines on stderr. What fails is shown in full and ends the process
 * with status 1.
 */
async function prepareOrExit(root) {
  const children = new Children();
  const release = children.stopWithUs();
  const say = (line) => console.error(`fake-csi: ${line}`);
  try {
    await install(root, { say, children });
    await build(root, { say, children });
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    console.error(error.output.trimEnd());
    console.error(`fake-csi: ${error.message}`);
    process.exit(1);
  }
  release();
}

module.exports = { install, build, prepareOrExit, PrepareError };
