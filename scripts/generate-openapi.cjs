#!/usr/bin/env node
// Writes docs/openapi.json from the route table of src/control/api.
//
//   npm run build && node scripts/generate-openapi.cjs [--out <file>]
'use strict';
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');

function main(argv) {
  const out = path.resolve(root, outFile(argv));
  const { openApi } = require(path.join(root, 'dist/control/api/openapi'));
  fs.mkdirSync(path.dirname(out), { recursive: true });
  fs.writeFileSync(out, `${JSON.stringify(openApi(), null, 2)}\n`);
  format(out);
}

/** As `npm run check` wants it. */
function format(file) {
  const biome = require.resolve('@biomejs/biome/bin/biome');
  const run = spawnSync(process.execPath, [biome, 'format', '--write', file], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`biome format failed: ${run.stderr || run.stdout}`);
}

function outFile(argv) {
  if (argv.length === 0) return 'docs/openapi.json';
  if (argv.length === 2 && argv[0] === '--out') return argv[1];
  throw new Error(`expected no argument or --out <file>, found: ${argv.join(' ')}`);
}

main(process.argv.slice(2));
