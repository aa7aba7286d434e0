// Processes as /proc tells of them. What runs is read there and nowhere kept: it holds after any crash.
'use strict';

const fs = require('node:fs');

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    // Ended while we looked.
    return null;
  }
}

function allPids() {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Its words, with spaces between them; empty for kernel threads and zombies, null when there is no such process. */
function commandOf(pid) {
  return read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? null;
}

/** The first word of its command line. */
function programOf(pid) {
  return read(`/proc/${pid}/cmdline`)?.split('\0')[0] ?? null;
}

/** Identifies its PID namespace; null when it is gone. */
function pidNamespaceOf(pid) {
  try {
    return fs.readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

/** Its number in the innermost namespace it is in; null when it is gone. */
function innermostPid(pid) {
  const found = /^NSpid:.*\s(\d+)$/m.exec(read(`/proc/${pid}/status`) ?? '');
  return found === null ? null : Number(found[1]);
}

/** Pid to parent's pid of every process, as this namespace numbers them. */
function parents() {
  const found = allPids().map((pid) => [
    pid,
    Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1]),
  ]);
  return new Map(found.filter(([, parent]) => !Number.isNaN(parent)));
}

function isZombie(pid) {
  return /^State:\s+Z/m.test(read(`/proc/${pid}/status`) ?? '');
}

/** False for one that has ended, though nobody may have waited for it yet. */
function isAlive(pid) {
  return fs.existsSync(`/proc/${pid}`) && !isZombie(pid);
}

/** Sends a signal; a process that is gone is no error. */
function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

module.exports = {
  commandOf,
  allPids,
  innermostPid,
  isAlive,
  parents,
  pidNamespaceOf,
  programOf,
  signal,
};
