// The tests on a real cluster (scripts/e2e.cjs), where what they run on has been built before.
'use strict';

const path = require('node:path');

const { programsOf } = require('../cluster/programs.cjs');
const { isRoot } = require('../machine.cjs');
const { leftOut, result } = require('./result.cjs');

const TIMEOUT_MS = 40 * 60_000;

/** What twenty minutes can hold: features, the four failure modes, and restarts among what is played. The whole gallery and the registration are npm run e2e's. */
const FILES = ['features', 'failures', 'played'];

/** Not run is no failure: building Kubernetes takes half an hour, and whoever wants it does that once. */
const excused = (reason) => ({ ...leftOut(reason), excused: 1 });

/** Jest's own closing line: `Tests: 1 failed, 2 skipped, 30 passed, 33 total`. */
function countsOf(output) {
  const line = /^Tests:.*$/m.exec(output)?.[0] ?? '';
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

async function e2e({ root, children, everything, only }) {
  if (!isRoot()) return leftOut('a cluster needs root');
  if (!everything && !only.includes('e2e'))
    return leftOut('takes a quarter of an hour; run it with npm run e2e');
  const missing = ['kubernetes', 'sidecars'].filter((set) => !programsOf(set).complete);
  if (missing.length > 0) return excused(`${missing.join(' and ')} not built here: npm run cluster -- build`);
  const { status, output } = await children.run(
    process.execPath,
    [path.join(root, 'scripts/e2e.cjs'), ...FILES],
    {
      cwd: root,
      timeoutMs: TIMEOUT_MS,
    },
  );
  const counts = countsOf(output);
  return result({ ...counts, failed: status !== 0 && counts.failed === 0 ? 1 : counts.failed, output });
}

module.exports = { e2e };
