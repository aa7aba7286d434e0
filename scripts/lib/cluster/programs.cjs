// What is built from Go modules, once for each version, and kept outside the repository.
'use strict';

const { spawnSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { findGo, goProblem } = require('../go.cjs');
const { goBuildWithProgress } = require('./go-build.cjs');

const ROOT = path.join(__dirname, '../../..');

const KUBERNETES_VERSION = /k8s\.io\/kubernetes (v\S+)/;

/** The set a program belongs to: the folder of its module, and what is built there. */
const SETS = {
  kubernetes: {
    moduleDir: path.join(ROOT, 'test/cluster/kubernetes'),
    programs: (goMod) => [
      { name: 'pause', package: './pause', ldflags: '-s -w' },
      { name: 'kubernetes', package: '.', ldflags: kubernetesFlags(KUBERNETES_VERSION.exec(goMod)[1]) },
    ],
  },
  sidecars: {
    moduleDir: path.join(ROOT, 'test/cluster/sidecars'),
    programs: (goMod) =>
      [...goMod.matchAll(/^\t(github\.com\/kubernetes-csi\/[\w-]+\/v\d+)\/cmd\/([\w-]+)$/gm)].map(
        ([, module, name]) => {
          const version = new RegExp(`^\\t${module} (v\\S+)`, 'm').exec(goMod)[1];
          return {
            name,
            version,
            package: `${module}/cmd/${name}`,
            ldflags: `-s -w -X main.version=${version}`,
          };
        },
      ),
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

function goMod(moduleDir) {
  return fs.readFileSync(path.join(moduleDir, 'go.mod'), 'utf8');
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
 * @returns {{ folder: string, programs: { name: string, version?: string, file: string }[], complete: boolean }}
 */
function programsOf(set) {
  const { moduleDir, programs } = SETS[set];
  const folder = path.join(cacheFolder(), `${set}-${keyOf(moduleDir)}`);
  const found = programs(goMod(moduleDir)).map((one) => ({ ...one, file: path.join(folder, one.name) }));
  return { folder, programs: found, complete: found.every(({ file }) => fs.existsSync(file)) };
}

/**
 * Builds what is not there. Ten minutes for Kubernetes on two cores when Go's own cache has none of it, ten seconds otherwise.
 * @param {(line: string) => void} say is told how far it is.
 * @throws Error with what the compiler said, or why there is none.
 */
async function buildPrograms(set, say) {
  const { moduleDir } = SETS[set];
  const { folder, programs, complete } = programsOf(set);
  if (complete) return;
  const problem = goProblem(moduleDir);
  if (problem !== null) throw new Error(problem);
  fs.mkdirSync(folder, { recursive: true });
  for (const program of programs.filter(({ file }) => !fs.existsSync(file)))
    await goBuildWithProgress({ moduleDir, ...program }, say);
}

/** The version of Kubernetes that is pinned. */
function kubernetesVersion() {
  return KUBERNETES_VERSION.exec(goMod(SETS.kubernetes.moduleDir))[1];
}

/** The folder of a module that go.mod of a set names, in the cache of Go. It is fetched if it is not there. */
function moduleFolder(set, module) {
  const args = ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module];
  const options = {
    cwd: SETS[set].moduleDir,
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  };
  const { stdout, stderr } = spawnSync(findGo(), args, options);
  if (stdout.trim() === '') throw new Error(`${module} is not in Go's module cache: ${stderr}`);
  return stdout.trim();
}

module.exports = { buildPrograms, cacheFolder, kubernetesVersion, moduleFolder, programsOf };
