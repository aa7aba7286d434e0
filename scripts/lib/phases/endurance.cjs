// A bounded share of npm run crash -- --random and of npm run soak.
'use strict';

const path = require('node:path');

const { isRoot, privateMounts } = require('../machine.cjs');
const { leftOut, readClosingLine, result } = require('./result.cjs');

const TIMEOUT_MS = 15 * 60_000;

/** Script and its arguments. Fixed seeds: what failed can be repeated. */
const RUNS = [
  ['crash.cjs', '--random', '12', '--seed', '20'],
  ['soak.cjs', '--minutes', '0.5', '--seed', '21'],
];

async function endurance({ root, children, folder }) {
  if (!isRoot()) return leftOut('real mounts and loop devices need root');
  if (privateMounts() === null) return leftOut('unshare -m is refused: mounting needs CAP_SYS_ADMIN');
  const total = result({});
  for (const [script, ...args] of RUNS) {
    const { status, output } = await children.run(
      process.execPath,
      [path.join(root, 'scripts', script), ...args],
      { cwd: root, env: { ...process.env, TMPDIR: folder }, timeoutMs: TIMEOUT_MS },
    );
    const counts = readClosingLine(output) ?? { passed: 0, failed: 0 };
    total.passed += counts.passed;
    total.failed += status !== 0 && counts.failed === 0 ? 1 : counts.failed;
    total.output += output;
  }
  return total;
}

module.exports = { endurance };
