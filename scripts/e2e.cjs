// npm run e2e: a real cluster with the driver in it, and the tests on that.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');

const { Cluster, clusterProblem, deploy, down, makeDriverImage, up } = require('./lib/cluster/index.cjs');
const { prepareOrExit } = require('./lib/prepare.cjs');
const { Children } = require('./lib/process.cjs');

const root = path.join(__dirname, '..');

const USAGE = `usage: npm run e2e -- [PATTERN of test files ...] [-t NAME]
--cluster DIR   a cluster that runs, with the driver in it (npm run cluster), instead of one that is made and taken down
--keep          leaves the cluster running
--update        writes the golden journals anew`;

function parse(words) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      cluster: { type: 'string' },
      keep: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      t: { type: 'string', short: 't' },
    },
  });
  return { ...values, patterns: positionals };
}

function say(line) {
  console.error(`e2e: ${line}`);
}

async function withCluster(options, work) {
  if (options.cluster !== undefined) return work(path.resolve(options.cluster));
  const problem = await clusterProblem();
  if (problem) throw new Error(problem);
  // Short: sockets lie below it.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'e2e-'));
  const cluster = new Cluster(folder);
  try {
    await up(cluster, say);
    await cluster.importImages([await makeDriverImage(say)]);
    await deploy(cluster, 'full');
    return await work(folder);
  } finally {
    if (options.keep) say(`the cluster goes on in ${folder}: npm run cluster -- --dir ${folder} down`);
    else await down(cluster);
  }
}

async function main(options) {
  await prepareOrExit(root);
  const children = new Children();
  return withCluster(options, async (folder) => {
    const args = [
      path.join(root, 'node_modules/jest/bin/jest.js'),
      '--config',
      path.join(root, 'jest.e2e.config.cjs'),
      '--ci',
      ...(options.t === undefined ? [] : ['-t', options.t]),
      ...options.patterns.map((pattern) => `--testPathPatterns=${pattern}`),
    ];
    const child = children.start(process.execPath, args, {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        FAKE_CSI_CLUSTER: folder,
        ...(options.update && { FAKE_CSI_GOLDEN: 'update' }),
      },
    });
    return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  });
}

let options;
try {
  options = parse(process.argv.slice(2));
} catch (error) {
  console.error(`e2e: ${error.message}\n${USAGE}`);
  process.exit(2);
}
main(options).then(
  (status) => process.exit(status),
  (error) => {
    say(error.message);
    process.exit(1);
  },
);
