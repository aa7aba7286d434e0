// npm run e2e: a real cluster with the driver in it, and the tests on that.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');

const { Cluster, clusterProblem, deploy, down, makeDriverImage, up } = require('./lib/cluster/index.cjs');
const { LINE_NAMES, USUAL_LINE, checkLine } = require('./lib/cluster/lines.cjs');
const { prepareOrExit } = require('./lib/prepare.cjs');
const { Children, STOPPING, statusOf } = require('./lib/process.cjs');

const root = path.join(__dirname, '..');

const USAGE = `usage: npm run e2e -- [PATTERN of test files ...] [-t NAME]
--kubernetes LINE   of what is made: ${LINE_NAMES.join(', ')} (default ${USUAL_LINE})
--cluster DIR       a cluster that runs, with the driver in it (npm run cluster), instead of one that is made and taken down
--keep              leaves the cluster running
--update            writes the golden journals anew`;

function parse(words) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      cluster: { type: 'string' },
      kubernetes: { type: 'string' },
      keep: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      t: { type: 'string', short: 't' },
    },
  });
  if (values.kubernetes !== undefined) checkLine(values.kubernetes);
  return { ...values, patterns: positionals };
}

function say(line) {
  console.error(`e2e: ${line}`);
}

/** Clusters of runs that were killed; those that were to be kept have another name. */
async function removeForgotten() {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const owner = /^fcsi-e2e-(\d+)$/.exec(name)?.[1];
    if (owner !== undefined && !fs.existsSync(`/proc/${owner}`))
      await down(new Cluster(path.join(os.tmpdir(), name)));
  }
}

async function makeCluster(cluster, line) {
  await up(cluster, say, line);
  await cluster.importImages([await makeDriverImage(say)]);
  await deploy(cluster, 'full');
}

/** One that was given is of the line that it is of. */
function checkCluster({ cluster: folder, kubernetes }) {
  if (folder === undefined) return;
  const { kubernetes: found } = new Cluster(folder);
  if (kubernetes !== undefined && kubernetes !== found)
    throw new Error(
      `${folder} is a cluster of Kubernetes ${found}, not ${kubernetes}: leave --kubernetes out`,
    );
}

async function withCluster(options, children, work) {
  if (options.cluster !== undefined) return work(path.resolve(options.cluster));
  const problem = clusterProblem();
  if (problem) throw new Error(problem);
  await removeForgotten();
  // Short: sockets lie below it.
  const folder = path.join(os.tmpdir(), `fcsi-e2e-${options.keep ? 'kept-' : ''}${process.pid}`);
  const cluster = new Cluster(folder);
  const takeDown = async () => {
    if (options.keep) say(`the cluster goes on in ${folder}: npm run cluster -- --dir ${folder} down`);
    else await down(cluster);
  };
  for (const signal of STOPPING)
    process.once(signal, async () => {
      await children.stopAll();
      await takeDown();
      process.exit(statusOf(null, signal));
    });
  try {
    await makeCluster(cluster, options.kubernetes);
    return await work(folder);
  } finally {
    await takeDown();
  }
}

async function main(options) {
  checkCluster(options);
  await prepareOrExit(root);
  const children = new Children();
  return withCluster(options, children, async (folder) => {
    const args = [
      path.join(root, 'node_modules/jest/bin/jest.js'),
      '--config',
      path.join(root, 'jest.e2e.config.cjs'),
      '--ci',
      ...(options.t === undefined ? [] : ['-t', options.t]),
      ...options.patterns.map((pattern) => `--testPathPatterns=${pattern}`),
    ];
    const env = {
      ...process.env,
      FAKE_CSI_CLUSTER: folder,
      ...(options.update && { FAKE_CSI_GOLDEN: 'update' }),
    };
    const child = children.start(process.execPath, args, { cwd: root, stdio: 'inherit', env });
    return new Promise((resolve) => child.once('close', (code, signal) => resolve(statusOf(code, signal))));
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
