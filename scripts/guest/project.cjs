// The checkout as it is now and the plan of phases, in a tar archive that the guest unpacks from a disk of its own.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { run } = require('./run.cjs');

/** node_modules is on the root disk; of .cache only the built Go programs are wanted. */
const LEFT_OUT = ['.git', '.cache', '.fake-csi', 'node_modules', 'coverage'];

/** Where inside/run-phases finds the plan, in the guest's root folder. */
const PLAN = 'guest-plan.json';

function writeProject(file, { root, plan, scratch }) {
  const names = fs.readdirSync(root).filter((name) => !LEFT_OUT.includes(name));
  if (fs.existsSync(path.join(root, '.cache/bin'))) names.push('.cache/bin');
  fs.writeFileSync(path.join(scratch, PLAN), JSON.stringify(plan));
  const paths = names.map((name) => path.relative('/', path.join(root, name)));
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  run('tar', ['-c', ...owner, '-f', file, '-C', scratch, PLAN, '-C', '/', ...paths]);
}

module.exports = { writeProject };
