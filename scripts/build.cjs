// npm run build: src to dist, and `fake-csi serve` as one file (src/cli/serve-bundle.ts).
//
// usage: node scripts/build.cjs [FOLDER OF A CHECKOUT]
'use strict';

const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { NODE_FLAGS } = require('./lib/node-flags.cjs');

/**
 * Not in the file: koffi is native, and what a start needs only with a scenario or for the control API is loaded when its
 * turn comes, from where it is.
 */
const LEFT_OUT = ['koffi', 'croner', 'prom-client', 're2js', 'yaml', 'zod'];

function compile(root) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  // npm makes it so when it links the program, which was not there yet then: npx would be refused.
  fs.chmodSync(path.join(root, 'dist/cli/main.js'), 0o755);
}

/**
 * Names and lines stay as they are, for the stack of an error to be read. Of a build that was killed nothing is left that a
 * start could take: V8 tells a script that its code belongs to by the length alone.
 */
function bundle(root) {
  const { buildSync } = require('esbuild');
  const dist = path.join(root, 'dist/cli');
  const script = path.join(dist, 'serve.bundle.js');
  for (const file of [script, path.join(dist, 'serve.bundle.code')]) fs.rmSync(file, { force: true });
  buildSync({
    entryPoints: [path.join(dist, 'serve-alone.js')],
    outfile: `${script}.new`,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    charset: 'ascii',
    external: LEFT_OUT,
    logLevel: 'warning',
  });
  fs.renameSync(`${script}.new`, script);
}

/**
 * By a Node with the flags that the driver has: V8 takes code only from its own like. Where the driver cannot run (a
 * folder for temporary files whose path is too long for a socket), a start takes longer, and that is all.
 */
function compileBundle(root) {
  const words = [...NODE_FLAGS, path.join(__dirname, 'lib/compile-bundle.cjs'), path.join(root, 'dist/cli')];
  const { status } = spawnSync(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0)
    console.error('build: serve could not be compiled beforehand; a start compiles it, and takes longer');
}

function main([given]) {
  const root = path.resolve(given ?? path.join(__dirname, '..'));
  compile(root);
  bundle(root);
  compileBundle(root);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  // A tool that failed has said why.
  if (error.status === undefined) console.error(error);
  else console.error(`build: ${error.message.split('\n')[0]}`);
  process.exit(1);
}
