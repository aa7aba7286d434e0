// Stands before a running driver: passes signals to it and takes its exit status.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');

const { NODE_FLAGS } = require('./node-flags.cjs');
const { STOPPING, statusOf } = require('./process.cjs');

/** A terminal's Ctrl-C reaches npm and us, and npm passes it on as well: the second of a pair is the same key. */
const SAME_KEY_MS = 300;

/**
 * Runs `fake-csi` in the foreground, in a process group of its own: in ours it would get the terminal's Ctrl-C
 * besides the one we pass on, and take the second for impatience.
 * @param {string[]} args arguments of the command, the subcommand first.
 */
function serve(root, args) {
  const main = path.join(root, 'dist/cli/main.js');
  const child = spawn(process.execPath, [...NODE_FLAGS, main, ...args], {
    cwd: root,
    stdio: 'inherit',
    detached: true,
  });
  const passedAt = new Map();
  for (const signal of STOPPING) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - (passedAt.get(signal) ?? Number.NEGATIVE_INFINITY) < SAME_KEY_MS) return;
      passedAt.set(signal, now);
      child.kill(signal);
    });
  }
  child.once('error', (error) => {
    console.error(`fake-csi: cannot start ${process.execPath}: ${error.message}`);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    process.exit(statusOf(code, signal));
  });
}

module.exports = { serve };
