// Starts a cluster.
'use strict';

const fs = require('node:fs');

const { findProgram, isRoot } = require('../machine.cjs');
const { createCgroups } = require('./cgroups.cjs');
const { COMPONENT_NAMES } = require('./components.cjs');
const { writeConfiguration } = require('./configuration.cjs');
const { writeCredentials } = require('./credentials.cjs');
const { startContainerd } = require('./container-runtime.cjs');
const { down, powerOff } = require('./down.cjs');
const { makeImages } = require('./images.cjs');
const { createNamespaces, furnish } = require('./namespaces.cjs');
const { CLUSTER_PACKAGES, ensurePackages } = require('./packages.cjs');
const { buildPrograms, programsOf } = require('./programs.cjs');
const { until } = require('./wait.cjs');

const NODE_READY_MS = 60_000;

/** Why no cluster can run here, as one sentence; null when one can. */
function clusterProblem() {
  if (process.platform !== 'linux') return `a cluster needs Linux, this is ${process.platform}`;
  if (!isRoot()) return 'a cluster mounts, makes namespaces and runs containers: run it as root';
  return null;
}

function makeFolders(layout, line) {
  const { bin, logs, configs, cni, varLib, varLog, kubelet, sysctls, opt } = layout;
  for (const folder of [bin, logs, configs, cni, varLib, varLog, kubelet, sysctls, opt])
    fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(layout.marker, 'npm run cluster -- down removes this folder\n');
  fs.writeFileSync(layout.line, line);
}

/** Under the names by which they are found again: each process of the cluster's own has a name below `bin`. */
function linkPrograms(layout, line) {
  const { programs } = programsOf('kubernetes', line);
  const built = (name) => programs.find((one) => one.name === name).file;
  const targets = {
    init: built('pause'),
    kubectl: built('kubernetes'),
    etcd: findProgram('etcd'),
    containerd: findProgram('containerd'),
  };
  for (const name of COMPONENT_NAMES) targets[name] ??= built('kubernetes');
  for (const [name, target] of Object.entries(targets)) fs.symlinkSync(target, layout.program(name));
}

/** A folder that is not empty and no cluster's is not taken. */
function checkFolder({ folder, marker }) {
  if (!fs.existsSync(folder) || fs.existsSync(marker) || fs.readdirSync(folder).length === 0) return;
  throw new Error(`${folder} is there and is no cluster's: expected an empty folder or none`);
}

function prepare(layout, line) {
  makeFolders(layout, line);
  linkPrograms(layout, line);
  writeCredentials(layout);
  writeConfiguration(layout);
}

/** Namespaces with nothing in them but their first process. */
async function boot({ layout }) {
  createCgroups(layout);
  await furnish(layout, await createNamespaces(layout));
  fs.writeFileSync(layout.furnished, '');
}

async function startControlPlane(cluster) {
  cluster.start('etcd');
  await cluster.ready('etcd');
  cluster.start('kube-apiserver');
  await cluster.ready('kube-apiserver');
}

/** Starts what does not run, each when what it needs is ready. */
async function startAll(cluster, archives) {
  await Promise.all([startContainerd(cluster, archives), startControlPlane(cluster)]);
  const rest = ['kubelet', 'kube-controller-manager', 'kube-scheduler'];
  for (const name of rest) cluster.start(name);
  for (const name of rest) await cluster.ready(name);
}

/** What the kubelet said before `since` counts for nothing: it may be of an earlier life. */
async function nodeIsReady(cluster, since) {
  const { status, stdout } = await cluster.kubectl(['get', 'node', cluster.node, '-o', 'json']);
  if (status !== 0) return false;
  const conditions = JSON.parse(stdout).status.conditions ?? [];
  return conditions.some(
    ({ type, status: is, lastHeartbeatTime }) =>
      type === 'Ready' && is === 'True' && Date.parse(lastHeartbeatTime) > since,
  );
}

/** A cluster that runs stays what it is. */
function checkRunningLine({ init, kubernetes, layout }, wanted) {
  if (init === null || wanted === kubernetes) return;
  throw new Error(
    `${layout.folder} runs Kubernetes ${kubernetes}, not ${wanted}: take it down first, or give another --dir`,
  );
}

/**
 * Brings a cluster up, or what of one has ended. Returns when its node is Ready and pods can be made.
 * @param {(line: string) => void} say
 * @param {string} [line] of Kubernetes; without it that of the cluster that is there, or the usual one.
 */
async function up(cluster, say, line = cluster.kubernetes) {
  const problem = clusterProblem();
  if (problem !== null) throw new Error(problem);
  const { layout } = cluster;
  checkFolder(layout);
  checkRunningLine(cluster, line);
  await ensurePackages(CLUSTER_PACKAGES, say);
  await buildPrograms('kubernetes', say, line);
  const archives = await makeImages();
  if (cluster.init === null || !fs.existsSync(layout.furnished)) {
    await down(cluster);
    prepare(layout, line);
    await boot(cluster);
  }
  say('starting');
  await startAll(cluster, archives);
  await whole(cluster);
}

/** Waits until the node is Ready and pods can be made. */
async function whole(cluster) {
  const since = Date.now();
  await until(() => nodeIsReady(cluster, since), {
    what: `node ${cluster.node} Ready`,
    ms: NODE_READY_MS,
    why: () => `. The end of the kubelet's log:\n${cluster.logEnd('kubelet')}`,
  });
  // The controller manager makes it, and no pod can be made before.
  await until(async () => (await cluster.kubectl(['get', 'serviceaccount', 'default'])).status === 0, {
    what: 'the default service account',
    ms: NODE_READY_MS,
  });
}

/**
 * The node loses power and comes back: every process, mount and loop device is gone at once, files are as they were. The control
 * plane, which is on the same node, goes with it.
 */
async function reboot(cluster) {
  await powerOff(cluster);
  await boot(cluster);
  await startAll(cluster, await makeImages());
  await whole(cluster);
}

module.exports = { clusterProblem, reboot, up };
