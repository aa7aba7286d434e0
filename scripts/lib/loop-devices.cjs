// The machine's loop devices: which are attached, and taking away those that a run left.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

/** Attached loop devices: `loopN` to the path of the backing file, as the kernel gives it. */
function loopDevices() {
  const found = new Map();
  if (!fs.existsSync('/sys/block')) return found;
  for (const name of fs.readdirSync('/sys/block')) {
    if (!name.startsWith('loop')) continue;
    try {
      found.set(name, fs.readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').trim());
    } catch {
      // Not attached, or detached while we looked.
    }
  }
  return found;
}

/** One more look at a superblock that nobody has mounted any more: it is the only way to thaw it. */
function thaw(device) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'thaw-'));
  for (const options of ['defaults', 'nouuid']) {
    const script = `mount -o ${options} "$1" "$2" && fsfreeze --unfreeze "$2"; umount "$2"`;
    const words = ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', device, folder];
    if (spawnSync('unshare', words).status === 0) break;
  }
  fs.rmdirSync(folder);
}

/**
 * Detaches the loop devices over files below `folder`, deleted files included, that were not attached `before`. For a run
 * that is told to stop: a driver that is killed keeps those of block volumes, and one that is killed in a snapshot leaves a
 * frozen filesystem, which outlives its last mount and with it the device.
 * @param {Map<string, string>} before what `loopDevices` gave.
 */
function detachLoops(before, folder) {
  const ours = () =>
    [...loopDevices()].filter(
      ([name, file]) => before.get(name) !== file && file.startsWith(`${folder}${path.sep}`),
    );
  for (const [name] of ours()) spawnSync('losetup', ['--detach', `/dev/${name}`]);
  for (const [name] of ours()) thaw(`/dev/${name}`);
}

module.exports = { detachLoops, loopDevices };
