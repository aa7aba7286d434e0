// The first thing every script asks. Old syntax only, here and at the top of the scripts: an old Node shall
// fail with one line, not with a syntax error.
'use strict';

/**
 * Compares the running Node with `engines.node` of package.json (of the form `>=20.19`).
 * @returns {string | null} null when it is new enough, else one sentence that says what to do.
 */
function nodeVersionProblem(root, running) {
  const engines = require(`${root}/package.json`).engines;
  const wanted = /^>=(\d+)\.(\d+)$/.exec(engines.node);
  if (!wanted) return `package.json: engines.node is "${engines.node}", expected the form ">=20.19"`;
  const numbers = running.split('.').map(Number);
  const major = Number(wanted[1]);
  const minor = Number(wanted[2]);
  if (numbers[0] > major || (numbers[0] === major && numbers[1] >= minor)) return null;
  return `fake-csi needs Node ${major}.${minor} or newer, this is ${running} (${process.execPath}): install a newer Node and try again`;
}

/** Ends the process with status 1 and that sentence when this Node is too old. */
function requireNode(root) {
  const problem = nodeVersionProblem(root, process.versions.node);
  if (problem === null) return;
  console.error(problem);
  process.exit(1);
}

module.exports = { nodeVersionProblem, requireNode };
