// Programs of test/endurance: TypeScript, on real mounts, in a mount namespace of their own.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { detachLoops } = require('./loop-devices.cjs');
const { isRoot, leftBehind, privateMounts, snapshot } = require('./machine.cjs');
const { prepareOrExit } = require('./prepare.cjs');
const { Children, statusOf } = require('./process.cjs');

/** Why nothing can be mounted here, as one sentence; null when it can. */
function problem() {
  if (!isRoot()) return 'real mounts and loop devices need root';
  return privateMounts() === null
    ? 'unshare -m is refused: mounting needs CAP_SYS_ADMIN (and util-linux)'
    : null;
}

/**
 * Installs and builds, then runs each command in turn with its output shown, and looks whether anything stayed behind.
 * Temporary files lie in one folder, which goes at the end, also when we are told to stop.
 * @param {string[][]} commands arguments of node.
 * @returns {Promise<number>} the first status that is not 0, or 1 for what was left behind.
 */
async function runOnMounts(root, commands) {
  const why = problem();
  if (why !== null) {
    console.error(why);
    return 2;
  }
  await prepareOrExit(root);
  // Short: paths of Unix sockets below it must stay under 108 bytes.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fcsi-'));
  const before = snapshot();
  const clean = () => {
    detachLoops(before.loops, folder);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  const children = new Children();
  children.stopWithUs(clean);
  const [unshare, ...words] = privateMounts();
  let status = 0;
  for (const command of commands) {
    const child = children.start(unshare, [...words, process.execPath, ...command], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TMPDIR: folder },
    });
    const ended = await new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(statusOf(code, signal)));
    });
    status ||= ended;
  }
  const left = await leftBehind(before, { folder, everywhere: false });
  for (const line of left) console.error(`left behind: ${line}`);
  if (left.length === 0) clean();
  return status || (left.length > 0 ? 1 : 0);
}

/** Arguments of node for a program of test/endurance. */
function program(root, name, args) {
  const hook = path.join(root, 'test/support/typescript-hook.cjs');
  return ['-r', hook, path.join(root, 'test/endurance', `${name}.ts`), ...args];
}

module.exports = { program, runOnMounts };
