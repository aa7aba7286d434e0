// npm run soak: a driver in use for as long as asked for, with faults, restarts and crashes; then what leaked.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const path = require('node:path');
const { parseArgs } = require('node:util');

const { program, runOnMounts } = require('./lib/endurance.cjs');

const root = path.join(__dirname, '..');

const USAGE = 'usage: npm run soak -- [--minutes M] [--seed N]   (default 5 minutes)';

let args;
try {
  const string = { type: 'string' };
  const { values } = parseArgs({ args: process.argv.slice(2), options: { minutes: string, seed: string } });
  if (values.minutes !== undefined && !(Number(values.minutes) > 0))
    throw new Error(`--minutes: expected a number above 0, found "${values.minutes}"`);
  args = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
} catch (error) {
  console.error(`soak: ${error.message}\n${USAGE}`);
  process.exit(2);
}
runOnMounts(root, [program(root, 'soak', args)]).then((status) => process.exit(status));
