// Control groups of the cluster: one group in each v1 hierarchy, below which are all that containers get.
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

/** Mount points of v1 hierarchies, each once though several names lead to it. */
function hierarchies() {
  const lines = fs.readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  return lines
    .filter((line) => / - cgroup /.test(line))
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

/** @returns {string} the name of the group, the same in each hierarchy. */
function createCgroups(layout) {
  const name = cgroupNameOf(layout);
  for (const hierarchy of hierarchies()) {
    const group = path.join(hierarchy, name);
    fs.mkdirSync(group, { recursive: true });
    allowProcessors(group);
  }
  return name;
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
  const groups = hierarchies().map((hierarchy) => path.join(hierarchy, cgroupNameOf(layout)));
  await until(() => groups.every(removeTree), { what: `removing ${groups.join(', ')}`, ms: BUSY_MS });
}

module.exports = { createCgroups, removeCgroups };
