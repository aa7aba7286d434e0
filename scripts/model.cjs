// Random sequences of calls against a driver and a model of the specification: see docs/testing.md.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const path = require('node:path');

const { prepareOrExit } = require('./lib/prepare.cjs');

async function run() {
  await prepareOrExit(path.join(__dirname, '..'));
  require('../test/support/typescript-hook.cjs');
  const { main } = require('../test/model/long-run.ts');
  return main(process.argv.slice(2));
}

run().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(2);
  },
);
