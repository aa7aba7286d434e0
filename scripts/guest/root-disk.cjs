// The guest's root disk: an ext4 image, built without root and kept while its ingredients stay the same.
'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const { buildTree } = require('./root-tree.cjs');
const { run } = require('./run.cjs');

/** Room for the disks that tests make. The image is sparse, and what is written to it goes to a temporary overlay. */
const SIZE = '24G';

/** Changes whenever the disk must be built anew. */
function fingerprint({ kernel, packages, root, node }) {
  const { size, mtimeMs } = fs.statSync(node);
  const ingredients = [
    kernel.release,
    [...packages],
    [node, size, mtimeMs],
    root,
    fs.readFileSync(path.join(root, 'node_modules/.package-lock.json'), 'utf8'),
    fs.readFileSync(path.join(__dirname, 'root-tree.cjs'), 'utf8'),
    fs.readFileSync(__filename, 'utf8'),
  ];
  return createHash('sha256').update(JSON.stringify(ingredients)).digest('hex').slice(0, 16);
}

/**
 * @param {string} cache folder for the image.
 * @param {string} scratch folder for what is only needed while building; on the same filesystem as `cache`.
 * @param {object} parts see buildTree.
 * @returns {string} path of the image.
 */
function ensureRootDisk(cache, scratch, parts, say) {
  const image = path.join(cache, `root-${fingerprint(parts)}.img`);
  if (fs.existsSync(image)) return image;
  say('building the root disk');
  const tree = path.join(scratch, 'tree');
  const unfinished = path.join(scratch, 'root.img');
  fs.mkdirSync(tree);
  buildTree(tree, parts);
  run('/sbin/mke2fs', ['-q', '-F', '-t', 'ext4', '-E', 'root_owner=0:0', '-d', tree, unfinished, SIZE]);
  fs.rmSync(tree, { recursive: true });
  for (const old of fs.readdirSync(cache).filter((name) => /^root-.*\.img$/.test(name))) {
    fs.rmSync(path.join(cache, old));
  }
  fs.renameSync(unfinished, image);
  return image;
}

module.exports = { ensureRootDisk };
