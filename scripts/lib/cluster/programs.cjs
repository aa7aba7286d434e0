// What is built from Go modules, once for each version, and kept outside the repository.
'use strict';

const { spawnSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { findGo, goProblem } = require('../go.cjs');
const { goBuildWithProgress } = require('./go-build.cjs');
const { USUAL_LINE, lineFolder } = require('./lines.cjs');

const KUBERNETES_VERSION = /k8s\.io\/kubernetes (v\S+)/;

/** What each set is made of, and in the module of which line. Only Kubernetes itself differs. */
const SETS = {
  kubernetes: (line) => [
    { line: USUAL_LINE, name: 'pause', package: './pause', ldflags: '-s -w' },
    { line, name: 'kubernetes', package: '.', ldflags: kubernetesFlags(kubernetesVersion(line)) },
  ],
  sidecars: () => {
    const line = USUAL_LINE;
    const text = goMod('sidecars', line);
    const tools = text.matchAll(/^\t(github\.com\/kubernetes-csi\/[\w-]+\/v\d+)\/cmd\/([\w-]+)$/gm);
    return [...tools].map(([, module, name]) => {
      const version = new RegExp(`^\\t${module} (v\\S+)`, 'm').exec(text)[1];
      const ldflags = `-s -w -X main.version=${version}`;
      return { line, name, version, package: `${module}/cmd/${name}`, ldflags };
    });
  },
};

function kubernetesFlags(version) {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version);
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const set = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return `-s -w ${set.join(' ')}`;
}

function cacheFolder() {
  return path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'fake-csi/cluster');
}

function goMod(set, line) {
  return fs.readFileSync(path.join(lineFolder(line, set), 'go.mod'), 'utf8');
}

/** Of every file of the module and of the compiler: another of one of them is another program. */
function keyOf(moduleDir) {
  const hash = crypto.createHash('sha256');
  for (const name of fs.readdirSync(moduleDir, { recursive: true }).sort()) {
    const file = path.join(moduleDir, name);
    if (fs.statSync(file).isFile()) hash.update(`${name}\0`).update(fs.readFileSync(file));
  }
  const go = findGo();
  if (go !== null) hash.update(spawnSync(go, ['env', 'GOVERSION'], { encoding: 'utf8' }).stdout);
  return hash.digest('hex').slice(0, 16);
}

/**
 * @param {'kubernetes' | 'sidecars'} set
 * @param {string} line of Kubernetes, '1.36'.
 * @returns {{ programs: { name: string, version?: string, file: string }[], complete: boolean }}
 */
function programsOf(set, line = USUAL_LINE) {
  const keys = {};
  const programs = SETS[set](line).map((one) => {
    const moduleDir = lineFolder(one.line, set);
    keys[moduleDir] ??= keyOf(moduleDir);
    const file = path.join(cacheFolder(), `${set}-${keys[moduleDir]}`, one.name);
    return { ...one, moduleDir, file };
  });
  return { programs, complete: programs.every(({ file }) => fs.existsSync(file)) };
}

/**
 * Builds what is not there. Ten minutes for Kubernetes on two cores when Go's own cache has none of it, ten seconds otherwise.
 * @param {(line: string) => void} say is told how far it is.
 * @throws Error with what the compiler said, or why there is none.
 */
async function buildPrograms(set, say, line = USUAL_LINE) {
  for (const program of programsOf(set, line).programs.filter(({ file }) => !fs.existsSync(file))) {
    const problem = goProblem(program.moduleDir);
    if (problem !== null) throw new Error(problem);
    fs.mkdirSync(path.dirname(program.file), { recursive: true });
    await goBuildWithProgress(program, say);
  }
}

/** The version that is pinned of a line. */
function kubernetesVersion(line = USUAL_LINE) {
  return KUBERNETES_VERSION.exec(goMod('kubernetes', line))[1];
}

/** The folder of a module that go.mod of a set names, in the cache of Go. It is fetched if it is not there. */
function moduleFolder(set, module) {
  const args = ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module];
  const options = {
    cwd: lineFolder(USUAL_LINE, set),
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  };
  const { stdout, stderr } = spawnSync(findGo(), args, options);
  if (stdout.trim() === '') throw new Error(`${module} is not in Go's module cache: ${stderr}`);
  return stdout.trim();
}

module.exports = { buildPrograms, cacheFolder, kubernetesVersion, moduleFolder, programsOf };
