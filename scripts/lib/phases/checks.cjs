// The checks that run no test: the linter and the compiler.
'use strict';

const path = require('node:path');

const { check } = require('./result.cjs');

async function lint({ root, children }) {
  const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
  return check(
    await children.run(process.execPath, [biome, 'check', '.'], {
      cwd: root,
      timeoutMs: 120_000,
    }),
  );
}

async function types({ root, children }) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  return check(
    await children.run(process.execPath, [tsc, '-p', 'tsconfig.json', '--noEmit'], {
      cwd: root,
      timeoutMs: 300_000,
    }),
  );
}

module.exports = { lint, types };
