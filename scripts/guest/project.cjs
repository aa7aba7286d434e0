// The checkout as it is now, in a tar archive that the guest unpacks from a disk of its own.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { run } = require('./run.cjs');

/** node_modules is on the root disk; of .cache only the built Go programs are wanted. */
const LEFT_OUT = ['.git', '.cache', '.fake-csi', 'node_modules', 'coverage'];

function writeProject(file, root) {
  const names = fs.readdirSync(root).filter((name) => !LEFT_OUT.includes(name));
  if (fs.existsSync(path.join(root, '.cache/bin'))) names.push('.cache/bin');
  const paths = names.map((name) => path.relative('/', path.join(root, name)));
  run('tar', ['-c', '--owner=0', '--group=0', '--numeric-owner', '-f', file, '-C', '/', ...paths]);
}

module.exports = { writeProject };
