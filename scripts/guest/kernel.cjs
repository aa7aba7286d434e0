// The guest's kernel: Debian's cloud kernel, unpacked into the cache and never installed on the host, since an
// installed kernel would change how the host boots.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { run } = require('./run.cjs');

const META_PACKAGE = 'linux-image-cloud-amd64';

/** What the initramfs needs to reach the disks and the event port. ext4 is built into this kernel. */
const BOOT_MODULES = ['virtio_pci', 'virtio_blk', 'virtio_console'];

/** `apt-get download` needs no root, but package lists that are not stale: they are refreshed once. */
function download(name, folder, say) {
  const get = () => run('apt-get', ['download', name], { cwd: folder });
  try {
    get();
  } catch (error) {
    if (process.getuid() !== 0) {
      throw new Error(`${error.message}if the package lists are stale, run apt-get update as root`);
    }
    say('refreshing the package lists (apt-get update)');
    run('apt-get', ['update']);
    get();
  }
}

/** The newest kernel behind the meta package, by the package's name. */
function newestImage() {
  const depends = run('apt-cache', ['depends', META_PACKAGE]);
  const name = /Depends: (linux-image-\S+-cloud-amd64)/.exec(depends)?.[1];
  if (name === undefined) {
    throw new Error(`expected a kernel among the dependencies of ${META_PACKAGE}, found:\n${depends}`);
  }
  return name;
}

/**
 * A kernel once unpacked stays until the cache is removed: a run needs no network then.
 * @param {string} cache folder for it.
 * @returns {{ release: string, image: string, modules: string }} the release as `uname -r` gives it, the path of
 *   the bzImage, and the folder of its modules.
 */
function ensureKernel(cache, say) {
  const folder = path.join(cache, 'kernel');
  const stamp = path.join(folder, 'release');
  if (!fs.existsSync(stamp)) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    const name = newestImage();
    say(`downloading ${name} (unpacked into the cache, not installed)`);
    download(name, folder, say);
    const archive = path.join(
      folder,
      fs.readdirSync(folder).find((file) => file.endsWith('.deb')),
    );
    run('dpkg', ['-x', archive, folder]);
    fs.rmSync(archive);
    const release = name.slice('linux-image-'.length);
    // modules.dep is made when the package is installed, which this one is not.
    run('/sbin/depmod', ['-b', folder, release]);
    fs.writeFileSync(stamp, release);
  }
  const release = fs.readFileSync(stamp, 'utf8');
  return {
    release,
    image: path.join(folder, `boot/vmlinuz-${release}`),
    modules: path.join(folder, 'lib/modules', release),
  };
}

/** The boot modules and all they depend on: paths below the module folder, in the order to load them. */
function bootModules(kernel) {
  const dependencies = new Map();
  const lines = fs.readFileSync(path.join(kernel.modules, 'modules.dep'), 'utf8').trimEnd().split('\n');
  for (const line of lines) {
    const [file, needs] = line.split(':');
    // depmod lists what must be loaded last first.
    dependencies.set(file, needs.split(' ').filter(Boolean).reverse());
  }
  const order = BOOT_MODULES.flatMap((name) => {
    const file = [...dependencies.keys()].find((key) => path.basename(key).replace(/\.ko.*$/, '') === name);
    if (file === undefined) throw new Error(`kernel ${kernel.release} has no module ${name}`);
    return [...dependencies.get(file), file];
  });
  return [...new Set(order)];
}

module.exports = { bootModules, ensureKernel };
