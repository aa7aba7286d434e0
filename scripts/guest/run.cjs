// Runs a short host command to its end.
'use strict';

const { spawnSync } = require('node:child_process');

/**
 * @param {object} options those of child_process.spawnSync.
 * @returns {string} standard output.
 * @throws with the command and everything it said when it cannot be started or fails.
 */
function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, ...options });
  if (done.error) throw new Error(`cannot run ${command}: ${done.error.message}`);
  if (done.status === 0) return done.stdout;
  const how = done.signal ? `signal ${done.signal}` : `status ${done.status}`;
  // Lists of files are given as arguments: the first ones tell which command it was.
  const words = [command, ...args.slice(0, 8)].join(' ');
  throw new Error(`${words} ended with ${how}:\n${done.stdout}${done.stderr}`);
}

module.exports = { run };
