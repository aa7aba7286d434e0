// Loop devices on files of a cluster. They are the host's and outlive the namespaces.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { must } = require('./command.cjs');

/** By device and inode: the path the kernel gives is one inside a mount namespace that may be gone. */
function identify({ dev, ino }) {
  return `${dev}:${ino}`;
}

function filesBelow(folder) {
  if (!fs.existsSync(folder)) return [];
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/** st_dev of `major:minor`, as the kernel packs it (new_encode_dev). */
function packDevice(text) {
  const [major, minor] = text.split(':').map(Number);
  return (minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12);
}

async function attached() {
  const { loopdevices = [] } = JSON.parse(
    (await must(['losetup', '--list', '--json', '--output', 'NAME,BACK-MAJ:MIN,BACK-INO'])) || '{}',
  );
  return loopdevices.map((one) => ({
    name: one.name,
    file: identify({ dev: packDevice(one['back-maj:min'].trim()), ino: Number(one['back-ino']) }),
  }));
}

/** Detaches every loop device on a file below `folder`. @returns {Promise<string[]>} which. */
async function detachLoops(folder) {
  const ours = new Set(filesBelow(folder).map((file) => identify(fs.statSync(file))));
  const found = (await attached()).filter(({ file }) => ours.has(file)).map(({ name }) => name);
  for (const name of found) await must(['losetup', '--detach', name]);
  return found;
}

module.exports = { detachLoops };
