// The Go tools the tests need, built from pinned modules into .cache/bin.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { findProgram } = require('./machine.cjs');

/** The go command: on PATH, or where Go's own archive puts it. null when there is none. */
function findGo() {
  const usual = '/usr/local/go/bin/go';
  return findProgram('go') ?? (fs.existsSync(usual) ? usual : null);
}

/** The `go` line of a go.mod, as [major, minor]. */
function wantedGo(moduleDir) {
  const line = /^go (\d+)\.(\d+)/m.exec(fs.readFileSync(path.join(moduleDir, 'go.mod'), 'utf8'));
  return [Number(line[1]), Number(line[2])];
}

/** Why `moduleDir` cannot be built here, as one sentence; null when it can. */
function goProblem(moduleDir) {
  const [major, minor] = wantedGo(moduleDir);
  const go = findGo();
  if (go === null)
    return `Go ${major}.${minor} or newer is not installed (looked on PATH and in /usr/local/go/bin)`;
  const said = spawnSync(go, ['env', 'GOVERSION'], {
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
  });
  const found = /go(\d+)\.(\d+)/.exec(said.stdout ?? '');
  if (found && (Number(found[1]) > major || (Number(found[1]) === major && Number(found[2]) >= minor)))
    return null;
  return `Go ${major}.${minor} or newer is needed, ${go} is ${said.stdout?.trim() || 'not working'}`;
}

/** True when `binary` is older than a file of the module it is built from, or not there. */
function goBuildIsStale(moduleDir, binary) {
  const built = fs.statSync(binary, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return true;
  return fs
    .readdirSync(moduleDir, { recursive: true })
    .some((entry) => fs.statSync(path.join(moduleDir, entry)).mtimeMs > built);
}

/**
 * Builds `packagePath` of the module in `moduleDir` as `binary`. `-mod=readonly` and the checked-in go.sum: what
 * is built is what was pinned, or nothing. Without cgo: the result runs in a guest that has no libc.
 * @returns {Promise<string | null>} null, or the output of a build that failed.
 */
async function goBuild(children, { moduleDir, packagePath, binary, ldflags = '' }) {
  fs.mkdirSync(path.dirname(binary), { recursive: true });
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', ldflags, '-o', binary, packagePath];
  const { status, output } = await children.run(findGo(), args, {
    cwd: moduleDir,
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
  });
  if (status !== 0) return output;
  fs.utimesSync(binary, new Date(), new Date());
  return null;
}

module.exports = { findGo, goBuild, goBuildIsStale, goProblem };
