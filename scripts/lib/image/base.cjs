// A base image like node:24-bookworm-slim, for machines that can pull none: Debian's minimum, and the node that runs this.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { findProgram } = require('../machine.cjs');

const SUITE = 'bookworm';
const BOOTSTRAP_MS = 15 * 60_000;

/** What this machine's clients go by to reach their registries; the test's base goes by it too. No credentials. */
const SETTINGS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/apt/sources.list',
  '/etc/apt/sources.list.d/debian.sources',
];

async function must(children, command, args, options) {
  const { status, output } = await children.run(command, args, options);
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${output.slice(-2000)}`);
}

/** Node and npm where the official image has them. */
function addNode(tree) {
  const npm = path.join(path.dirname(fs.realpathSync(findProgram('npm'))), '..');
  const modules = path.join(tree, 'usr/local/lib/node_modules');
  fs.copyFileSync(fs.realpathSync(process.execPath), path.join(tree, 'usr/local/bin/node'));
  fs.mkdirSync(modules, { recursive: true });
  fs.cpSync(npm, path.join(modules, 'npm'), { recursive: true });
  fs.symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(tree, 'usr/local/bin/npm'));
}

function addSettings(tree) {
  for (const file of SETTINGS) if (fs.existsSync(file)) fs.copyFileSync(file, path.join(tree, file));
  fs.mkdirSync(path.join(tree, 'usr/local/etc'), { recursive: true });
  fs.writeFileSync(path.join(tree, 'usr/local/etc/npmrc'), 'cafile=/etc/ssl/certs/ca-certificates.crt\n');
  fs.writeFileSync(path.join(tree, 'etc/apt/apt.conf.d/99dates'), 'Acquire::Check-Valid-Until "false";\n');
}

/**
 * Makes it once and keeps it in .cache/image.
 * @returns {Promise<string>} a tar archive, for `docker import`.
 */
async function makeBase(children, root) {
  const folder = path.join(root, '.cache/image');
  const archive = path.join(folder, `base-${SUITE}-node-${process.versions.node}.tar`);
  if (fs.existsSync(archive)) return archive;
  const tree = path.join(folder, 'tree');
  fs.rmSync(tree, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  try {
    const args = ['--variant=minbase', '--include=ca-certificates', SUITE, tree];
    await must(children, findProgram('debootstrap'), args, { timeoutMs: BOOTSTRAP_MS });
    fs.rmSync(path.join(tree, 'var/cache/apt/archives'), { recursive: true });
    addNode(tree);
    addSettings(tree);
    await must(children, 'tar', ['-cf', `${archive}.new`, '-C', tree, '.']);
    fs.renameSync(`${archive}.new`, archive);
  } finally {
    fs.rmSync(tree, { recursive: true, force: true });
  }
  return archive;
}

module.exports = { makeBase };
