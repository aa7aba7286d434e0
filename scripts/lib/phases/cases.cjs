// The specification's cases by the command a user has for them, against drivers that really mount; in memory, Jest runs
// them one by one (test/conformance).
'use strict';

const path = require('node:path');

const { isRoot, privateMounts } = require('../machine.cjs');
const { leftOut, result } = require('./result.cjs');

const BACKENDS = ['loop', 'tmpfs', 'directory'];

const TIMEOUT_MS = 10 * 60_000;

/** What is not applicable is so for a capability that the backend has not, whatever the machine. */
const CLOSING = /^(\d+) passed, (\d+) failed, \d+ not applicable$/m;

async function cases({ root, children, folder }) {
  if (!isRoot()) return leftOut('real mounts and loop devices need root');
  const own = privateMounts();
  if (own === null) return leftOut('unshare -m is refused: mounting needs CAP_SYS_ADMIN');
  const total = result({});
  for (const backend of BACKENDS) {
    const [program, ...words] = own;
    const { status, output } = await children.run(
      program,
      [...words, process.execPath, path.join(root, 'dist/cli/main.js'), 'conformance', '--backend', backend],
      { cwd: root, env: { ...process.env, TMPDIR: folder }, timeoutMs: TIMEOUT_MS },
    );
    const [, passed, failed] = CLOSING.exec(output) ?? [];
    total.passed += Number(passed ?? 0);
    total.failed += status !== 0 && !(Number(failed) > 0) ? 1 : Number(failed ?? 0);
    total.output += `conformance --backend ${backend}\n${output}`;
  }
  return total;
}

module.exports = { cases };
