// npm start: from a fresh clone to a serving driver. Arguments are those of `fake-csi serve`.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const path = require('node:path');

const { prepareOrExit } = require('./lib/prepare.cjs');
const { serve } = require('./lib/serve.cjs');

const root = path.join(__dirname, '..');

/** `--data-dir` where the caller names none: in a checkout everything stays in the checkout. */
function serveArguments(given) {
  const named = given.some((argument) => argument === '--data-dir' || argument.startsWith('--data-dir='));
  return ['serve'].concat(named ? [] : ['--data-dir', './.fake-csi'], given);
}

async function main() {
  await prepareOrExit(root);
  serve(root, serveArguments(process.argv.slice(2)));
}

void main();
