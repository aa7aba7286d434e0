// containerd's store with all images in it, kept from one cluster to the next: to unpack them takes longer than all else.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const { must, run } = require('./command.cjs');
const { cacheFolder } = require('./programs.cjs');

/** Another after it was made again. */
function identityOf(archive) {
  const { size, mtimeMs } = fs.statSync(archive);
  return `${archive} ${size} ${mtimeMs}`;
}

/** Other archives are another store, and so is another containerd, which may keep it in another way. */
async function storeOf(archives) {
  const hash = crypto.createHash('sha256').update(await must(['containerd', '--version']));
  for (const archive of archives) hash.update(`${identityOf(archive)}\n`);
  return path.join(cacheFolder(), `images-${hash.digest('hex').slice(0, 16)}`);
}

/** What is written in place, and so must not be shared. */
function databases(folder) {
  return fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.db'));
}

/**
 * A copy that shares the files that are never written again: layers lie below containers and are only read.
 * It is there whole or not at all.
 * @returns {Promise<boolean>} false when it cannot be made, as between two filesystems.
 */
async function share(from, to) {
  const scratch = `${to}.${process.pid}`;
  const { status } = await run(['cp', '--archive', '--link', from, scratch]);
  if (status !== 0) {
    fs.rmSync(scratch, { recursive: true, force: true });
    return false;
  }
  for (const name of databases(from)) {
    fs.rmSync(path.join(scratch, name));
    fs.copyFileSync(path.join(from, name), path.join(scratch, name));
  }
  // Another cluster that came up at the same time has made it.
  if (fs.existsSync(to)) fs.rmSync(scratch, { recursive: true, force: true });
  else fs.renameSync(scratch, to);
  return true;
}

/**
 * Gives a containerd that does not run yet the images that are in `archives`.
 * @returns {Promise<boolean>} false when there is no such store: then they have to be imported.
 */
async function restoreImages(layout, archives) {
  const store = await storeOf(archives);
  return fs.existsSync(store) && share(store, layout.containerd.root);
}

/** Of stores that were made for other archives, and of copies that nobody finishes any more. */
function isOutdated(name, store) {
  const [, hash, maker] = /^images-([0-9a-f]{16})(?:\.(\d+))?$/.exec(name) ?? [];
  if (hash === undefined) return false;
  return maker === undefined ? name !== path.basename(store) : !fs.existsSync(`/proc/${maker}`);
}

/** Keeps what a containerd that does not run has, and no store but this. */
async function keepImages(layout, archives) {
  const store = await storeOf(archives);
  for (const name of fs.readdirSync(cacheFolder()).filter((one) => isOutdated(one, store)))
    fs.rmSync(path.join(cacheFolder(), name), { recursive: true, force: true });
  if (!fs.existsSync(store)) await share(layout.containerd.root, store);
}

module.exports = { identityOf, keepImages, restoreImages };
