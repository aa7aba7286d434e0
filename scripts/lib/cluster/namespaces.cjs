// The mount, network, PID and cgroup namespaces that a cluster lives in. A first process holds them: when it is killed, the
// kernel kills every process in them and takes their mounts down, containers and shims included.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');

const { cgroupNameOf, groupsOf, hierarchies, memberWords } = require('./cgroups.cjs');
const { must } = require('./command.cjs');
const { NODE, SERVICES } = require('./layout.cjs');
const {
  allPids,
  innermostPid,
  isAlive,
  parents,
  pidNamespaceOf,
  programOf,
  signal,
} = require('./processes.cjs');
const { until } = require('./wait.cjs');

const START_MS = 10_000;
/** A process that hangs in the kernel, as faults make them do, does not go before what it waits for. */
const END_MS = 30_000;

/** The first process of the cluster's namespaces, as the host numbers it; null when the cluster is not there. */
function findInit(layout) {
  const program = layout.program('init');
  return (
    allPids().find((pid) => programOf(pid) === program && innermostPid(pid) === 1 && isAlive(pid)) ?? null
  );
}

/**
 * Every process of the cluster, as the host numbers them: those in its PID namespace, and below them those of containers,
 * which have namespaces of their own.
 */
function processesIn(init) {
  const namespace = pidNamespaceOf(init);
  if (namespace === null) return [];
  const parentOf = parents();
  const found = new Set([...parentOf.keys()].filter((pid) => pidNamespaceOf(pid) === namespace));
  const isOurs = (pid) => pid !== undefined && (found.has(pid) || isOurs(parentOf.get(pid)));
  return [...parentOf.keys()].filter((pid) => isOurs(pid) && isAlive(pid));
}

/** The words before a command that runs as the cluster's own processes do. It starts in /: give absolute paths. */
function insideWords(init) {
  return ['nsenter', '--target', String(init), '--mount', '--net', '--pid', '--cgroup', '--'];
}

/** The same for what makes groups: it has to be inside the root that it sees, which entering the namespace does not do. */
function componentWords(init) {
  return [...insideWords(init), ...memberWords(hierarchies())];
}

/** The words before a command that reaches the cluster's network and sees the files of the host. */
function networkWords(init) {
  return ['nsenter', '--target', String(init), '--net', '--'];
}

/** @returns {Promise<number>} the first process. */
async function createNamespaces(layout) {
  const kinds = [
    '--mount',
    '--net',
    '--pid',
    '--cgroup',
    '--fork',
    '--mount-proc',
    '--propagation',
    'private',
  ];
  const [command, ...words] = [...memberWords(groupsOf(layout)), 'unshare', ...kinds, layout.program('init')];
  spawn(command, words, { stdio: 'ignore', detached: true }).unref();
  return until(() => findInit(layout), { what: 'the first process of the namespaces', ms: START_MS });
}

/** Mounts and addresses that the processes find. See furnish.sh. */
async function furnish(layout, init) {
  const script = path.join(__dirname, 'furnish.sh');
  const words = [layout.folder, cgroupNameOf(layout), NODE.address, SERVICES.apiServer];
  await must([...insideWords(init), 'sh', '-eu', script, ...words]);
}

/** Kills what lives in the namespaces, and with them goes what is mounted there. @throws Error naming what does not go. */
async function destroyNamespaces(init) {
  const all = processesIn(init);
  signal(init, 'SIGKILL');
  const left = () => all.filter((pid) => isAlive(pid));
  await until(() => left().length === 0, {
    what: 'the end of the cluster’s processes',
    ms: END_MS,
    why: () =>
      `: ${left()
        .map((pid) => `${pid} ${programOf(pid)}`)
        .join(', ')} still there`,
  });
}

module.exports = {
  componentWords,
  createNamespaces,
  destroyNamespaces,
  findInit,
  furnish,
  insideWords,
  networkWords,
  processesIn,
};
