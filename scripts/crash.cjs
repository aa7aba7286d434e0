// npm run crash: kills the driver inside its calls. Every named point in turn, or at random for as many lives as asked for.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const path = require('node:path');
const { parseArgs } = require('node:util');

const { program, runOnMounts } = require('./lib/endurance.cjs');

const root = path.join(__dirname, '..');

const USAGE = `usage: npm run crash                                the matrix: every named point, kind of volume and way to go on
       npm run crash -- --random LIVES [--seed N]   one driver that dies LIVES times, twelve volumes at a time`;

const MATRIX = [
  '-r',
  path.join(root, 'test/support/typescript-hook.cjs'),
  path.join(root, 'node_modules/jest/bin/jest.js'),
  '--selectProjects=integration',
  '--runInBand',
  '--ci',
  '--reporters=default',
  `--reporters=${path.join(__dirname, 'lib/crash-reporter.cjs')}`,
  '--testPathPatterns=integration/crash',
];

function commands(words) {
  const string = { type: 'string' };
  const { values } = parseArgs({ args: words, options: { random: string, seed: string } });
  if (values.random === undefined) return [MATRIX];
  if (!/^[1-9]\d*$/.test(values.random))
    throw new Error(`--random: expected a number of lives, found "${values.random}"`);
  const seed = values.seed === undefined ? [] : ['--seed', values.seed];
  return [program(root, 'crash', ['--lives', values.random, ...seed])];
}

let wanted;
try {
  wanted = commands(process.argv.slice(2));
} catch (error) {
  console.error(`crash: ${error.message}\n${USAGE}`);
  process.exit(2);
}
runOnMounts(root, wanted).then((status) => process.exit(status));
