// The tests that need every capability, in a virtual machine (scripts/guest.cjs).
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { leftOut, readClosingLine, result } = require('./result.cjs');

/** The guest is emulated: an order of magnitude slower than this machine. */
const TIMEOUT_MS = 45 * 60_000;

async function guest({ root, children, folder, everything, only }) {
  if (!everything && !only.includes('guest')) return leftOut('takes minutes; run it with npm run guest');
  const script = path.join(root, 'scripts/guest.cjs');
  if (!fs.existsSync(script)) return leftOut('scripts/guest.cjs is not there');
  const env = { ...process.env, TMPDIR: folder };
  const { status, output } = await children.run(process.execPath, [script], {
    cwd: root,
    env,
    timeoutMs: TIMEOUT_MS,
  });
  const counts = readClosingLine(output) ?? { passed: status === 0 ? 1 : 0, failed: 0, skipped: 0 };
  return result({
    ...counts,
    failed: status !== 0 && counts.failed === 0 ? 1 : counts.failed,
    leftOut: counts.skipped > 0 ? [`${counts.skipped} inside the guest, see npm run guest`] : [],
    output,
  });
}

module.exports = { guest };
