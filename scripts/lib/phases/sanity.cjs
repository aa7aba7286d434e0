// csi-sanity, all profiles this machine can run.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { sanityProblem } = require('../sanity/binary.cjs');
const { leftOut, result } = require('./result.cjs');

const TIMEOUT_MS = 30 * 60_000;

/** Specs that cannot pass for want of a capability are no failure: the guest runs the same profile with it. */
function excusedLines(profiles) {
  return profiles.flatMap(({ name, expected }) =>
    expected.map((spec) => `${name}: "${spec}" needs CAP_SYS_RESOURCE; npm run guest has it`),
  );
}

async function sanity({ root, children, folder }) {
  const problem = sanityProblem(root);
  if (problem !== null) return leftOut(`csi-sanity is not built and cannot be: ${problem}`);
  const summaryFile = path.join(folder, 'sanity.json');
  const { status, output } = await children.run(
    process.execPath,
    [path.join(root, 'scripts/sanity.cjs'), 'run', '--summary', summaryFile],
    { cwd: root, env: { ...process.env, TMPDIR: folder }, timeoutMs: TIMEOUT_MS },
  );
  if (!fs.existsSync(summaryFile)) return result({ failed: 1, output });
  const { profiles, leftOut: notRun } = JSON.parse(fs.readFileSync(summaryFile, 'utf8'));
  const excused = excusedLines(profiles);
  const count = (of) => profiles.reduce((sum, profile) => sum + of(profile), 0);
  const failed = count((profile) => profile.failed);
  return result({
    passed: count((profile) => profile.passed),
    failed: status !== 0 && failed === 0 ? 1 : failed,
    skipped: notRun.length + excused.length,
    excused: excused.length,
    leftOut: [...notRun.map(({ name, reason }) => `${name}: ${reason}`), ...excused],
    output,
  });
}

module.exports = { sanity };
