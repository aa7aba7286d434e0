// Writes a generated JSON file: `npm run build && node scripts/generate-….cjs [--out <file>]`.
'use strict';
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '../..');

/**
 * @param {string} place where it is checked in, below the repository
 * @param {(required: (built: string) => any) => unknown} make the value; `required` gives a module of dist/
 */
function writeGenerated(place, make) {
  const out = path.resolve(root, outFile(process.argv.slice(2), place));
  const value = make((built) => require(path.join(root, 'dist', built)));
  fs.mkdirSync(path.dirname(out), { recursive: true });
  fs.writeFileSync(out, `${JSON.stringify(value, null, 2)}\n`);
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

function outFile(argv, place) {
  if (argv.length === 0) return place;
  if (argv.length === 2 && argv[0] === '--out') return argv[1];
  throw new Error(`expected no argument or --out <file>, found: ${argv.join(' ')}`);
}

module.exports = { writeGenerated };
