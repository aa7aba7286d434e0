// Control groups of the cluster: one group in each hierarchy, below which are all that it makes. The cluster takes its own for
// the root (a cgroup namespace), so that runc finds what it made at the paths by which it made them.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const { until } = require('./wait.cjs');

const MOUNTS = '/sys/fs/cgroup';
/** A group is busy for a moment after the last process in it has ended. */
const BUSY_MS = 10_000;

/** Two clusters on one machine have different groups. */
function cgroupNameOf(layout) {
  return `fake-csi-${crypto.createHash('sha256').update(layout.folder).digest('hex').slice(0, 8)}`;
}

/** Mount points of all hierarchies of v1, and of v2 where it is beside them. */
function hierarchies() {
  const lines = fs.readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  return lines
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(' ')[4])
    .filter((point) => path.dirname(point) === MOUNTS);
}

/** A group of cpuset takes no process before it has processors and memory nodes; those of the parent, here. */
function allowProcessors(group) {
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    const file = path.join(group, name);
    if (fs.existsSync(file)) fs.writeFileSync(file, fs.readFileSync(path.join(group, '..', name)));
  }
}

function groupsOf(layout) {
  return hierarchies().map((hierarchy) => path.join(hierarchy, cgroupNameOf(layout)));
}

function createCgroups(layout) {
  for (const group of groupsOf(layout)) {
    fs.mkdirSync(group, { recursive: true });
    allowProcessors(group);
  }
}

/** The words before a command that makes it a member of `groups`, and all that it starts. */
function memberWords(groups) {
  const files = groups.map((group) => path.join(group, 'cgroup.procs'));
  // A shell is one process for all of it: what it becomes is where it went.
  return ['sh', '-euc', `for file in ${files.join(' ')}; do echo $$ >"$file"; done; exec "$@"`, 'member'];
}

/** Removes it and those below it, the innermost first. @returns {boolean} whether all are gone. */
function removeTree(group) {
  if (!fs.existsSync(group)) return true;
  for (const entry of fs.readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory() && !removeTree(path.join(group, entry.name))) return false;
  try {
    fs.rmdirSync(group);
    return true;
  } catch (error) {
    if (error.code === 'EBUSY') return false;
    throw error;
  }
}

async function removeCgroups(layout) {
  const groups = groupsOf(layout);
  await until(() => groups.every(removeTree), { what: `removing ${groups.join(', ')}`, ms: BUSY_MS });
}

module.exports = { cgroupNameOf, createCgroups, groupsOf, hierarchies, memberWords, removeCgroups };
