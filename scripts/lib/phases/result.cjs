// What a phase of the test run comes to.
'use strict';

/**
 * @typedef {object} PhaseResult
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped not run, or failed for a reason this machine gives; `excused` ones are among them.
 * @property {number} excused of `skipped`: covered by another phase, so no failure even where everything is required.
 * @property {string[]} leftOut one line each: what did not run, and why.
 * @property {string} output shown when something failed.
 */

/** @returns {PhaseResult} */
function result(fields) {
  return { passed: 0, failed: 0, skipped: 0, excused: 0, leftOut: [], output: '', ...fields };
}

/** A phase that did not run at all: one skip, and its reason. */
function leftOut(reason) {
  return result({ skipped: 1, leftOut: [reason] });
}

/** A check that passes or fails as a whole. */
function check({ status, output }) {
  return result(status === 0 ? { passed: 1 } : { failed: 1, output });
}

/** The last `N passed, N failed[, N skipped]` line of a program's output, or null. */
function readClosingLine(output) {
  const found = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  if (found === undefined) return null;
  return { passed: Number(found[1]), failed: Number(found[2]), skipped: Number(found[3] ?? 0) };
}

module.exports = { check, leftOut, readClosingLine, result };
