// Random sequences of calls against a driver and a model of the specification: see docs/testing.md.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);
require('../test/support/typescript-hook.cjs');

const { main } = require('../test/model/long-run.ts');

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(2);
  },
);
