// npm run conformance: installs and builds, then `fake-csi conformance` with the arguments that were given.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const path = require('node:path');

const { prepareOrExit } = require('./lib/prepare.cjs');
const { serve } = require('./lib/serve.cjs');

const root = path.join(__dirname, '..');

async function main() {
  await prepareOrExit(root);
  serve(root, ['conformance', ...process.argv.slice(2)]);
}

void main();
