// A build by Go that takes minutes, and says how far it is.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');

const { findGo } = require('../go.cjs');
const { must } = require('./command.cjs');

const SAY_EVERY_MS = 15_000;

/**
 * What is pinned is built, or nothing (`-mod=readonly`, go.sum). Without cgo: the result runs in images that are empty
 * but for it.
 * @param {object} what `moduleDir`, `package`, `file`, `ldflags` and, for the messages, `name`.
 * @throws Error with what the compiler said.
 */
async function goBuildWithProgress({ moduleDir, package: name, file, ldflags, name: short }, say) {
  const options = { cwd: moduleDir, env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' } };
  const needed =
    (await must([findGo(), 'list', '-mod=readonly', '-deps', name], options)).split('\n').length - 1;
  const began = Date.now();
  let compiled = 0;
  const errors = [];
  const tell = () => {
    const seconds = Math.round((Date.now() - began) / 1000);
    say(`${short}: ${compiled} of at most ${needed} packages compiled, ${seconds} s`);
  };
  // With -v it names each package that it compiles; one that Go's cache has is not named.
  const args = ['build', '-v', '-mod=readonly', '-trimpath', '-ldflags', ldflags, '-o', `${file}.new`, name];
  const child = spawn(findGo(), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    for (const line of text.split('\n').filter((one) => one !== '')) {
      if (/^[\w./-]+$/.test(line)) compiled += 1;
      else if (!line.startsWith('go: downloading')) errors.push(line);
    }
  });
  const timer = setInterval(tell, SAY_EVERY_MS);
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearInterval(timer));
  if (status !== 0) throw new Error(`${short} cannot be built:\n${errors.join('\n')}`);
  // Whole or not at all: a build may be stopped.
  fs.renameSync(`${file}.new`, file);
  tell();
}

module.exports = { goBuildWithProgress };
