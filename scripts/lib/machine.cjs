// What this process may do here, and what lies about on the machine: mounts, loop devices, processes.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { loopDevices } = require('./loop-devices.cjs');

/** Bit of CAP_SYS_RESOURCE in CapEff (capabilities(7)): growing a mounted ext4 asks for it. */
const CAP_SYS_RESOURCE = 24n;

function isRoot() {
  return process.getuid?.() === 0;
}

/** Whether uids are those of the machine: root of another user namespace is none to block devices. */
function isInitialUserNamespace() {
  return /^\s*0\s+0\s+4294967295\s*$/.test(fs.readFileSync('/proc/self/uid_map', 'utf8'));
}

function hasCapability(bit) {
  if (process.platform !== 'linux') return false;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'));
  return effective !== null && ((BigInt(`0x${effective[1]}`) >> bit) & 1n) === 1n;
}

/** Where a program is, looking through PATH and the two folders that hold mkfs; null when it is nowhere. */
function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];
  for (const folder of folders) {
    const file = path.join(folder, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      return file;
    } catch {
      // Not there, or not for us.
    }
  }
  return null;
}

/**
 * The words to put before a command so that it gets a mount namespace of its own, and everything it mounts goes
 * when it goes: `unshare -m` as root, a user namespace with it otherwise. null where neither is allowed.
 */
function privateMounts() {
  if (process.platform !== 'linux' || findProgram('unshare') === null) return null;
  const words = ['unshare', ...(isRoot() ? [] : ['-U', '-r']), '-m', '--propagation', 'private'];
  return spawnSync(words[0], [...words.slice(1), 'true']).status === 0 ? words : null;
}

/** Mounts of this namespace: mount id to `<mount point> (<type> from <source>)`. */
function mounts() {
  const found = new Map();
  if (process.platform !== 'linux') return found;
  for (const line of fs.readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n')) {
    const [before, after] = line.split(' - ');
    const fields = before.split(' ');
    const [fsType, source] = after.split(' ');
    found.set(fields[0], `${fields[4]} (${fsType} from ${source})`);
  }
  return found;
}

/** Processes that name `folder` in their arguments: pid to command line. */
function processesNaming(folder) {
  const found = new Map();
  if (process.platform !== 'linux') return found;
  for (const pid of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      if (command.includes(folder)) found.set(pid, command);
    } catch {
      // Ended while we looked.
    }
  }
  return found;
}

function snapshot() {
  return { mounts: mounts(), loops: loopDevices() };
}

/**
 * What is there now and was not in `before`, one line each. The kernel takes a namespace's mounts down, and
 * with them autocleared loop devices, after its last process is gone: what is still there is looked at again
 * until `patience` ms have passed.
 * @param {string} folder everything of ours lies under it.
 * @param {boolean} everywhere false: only what lies under `folder`, for machines where others work as well.
 */
async function leftBehind(before, { folder, everywhere, patience = 10_000 }) {
  const deadline = Date.now() + patience;
  for (;;) {
    const now = snapshot();
    const ours = (text) => everywhere || text.includes(folder);
    const lines = [
      ...[...now.mounts]
        .filter(([id, text]) => !before.mounts.has(id) && ours(text))
        .map(([, text]) => `mount ${text}`),
      ...[...now.loops]
        .filter(([name, file]) => before.loops.get(name) !== file && ours(file))
        .map(([name, file]) => `/dev/${name} on ${file}`),
      ...[...processesNaming(folder)].map(([pid, command]) => `process ${pid}: ${command}`),
    ];
    if (lines.length === 0 || Date.now() > deadline) return lines;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

module.exports = {
  CAP_SYS_RESOURCE,
  findProgram,
  hasCapability,
  isInitialUserNamespace,
  isRoot,
  leftBehind,
  mounts,
  privateMounts,
  snapshot,
};
