// npm run cluster: a real Kubernetes of one node, without systemd, registry or Docker. See docs/cluster.md.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { parseArgs } = require('node:util');

const { Cluster, COMPONENT_NAMES, deploy, down, makeDriverImage, up } = require('./lib/cluster/index.cjs');
const { provideImages } = require('./lib/cluster/container-runtime.cjs');
const { makeImages } = require('./lib/cluster/images.cjs');
const { DEFAULT_FOLDER } = require('./lib/cluster/layout.cjs');
const { LINE_NAMES, USUAL_LINE, checkLine } = require('./lib/cluster/lines.cjs');
const { buildPrograms, kubernetesVersion } = require('./lib/cluster/programs.cjs');
const { statusOf } = require('./lib/process.cjs');

const USAGE = `usage: npm run cluster -- up [--kubernetes LINE]     starts it, and builds what is missing (half an hour on two cores, once)
       npm run cluster -- status                     what runs, and its node
       npm run cluster -- kubectl ARGS...            kubectl as an administrator
       npm run cluster -- logs COMPONENT             ${COMPONENT_NAMES.join(', ')}
       npm run cluster -- deploy OVERLAY             installs the driver: node-only or full
       npm run cluster -- down                       stops and removes all of it
       npm run cluster -- build [--kubernetes LINE]  Kubernetes and the sidecars, from pinned Go modules
       npm run cluster -- image                      the driver's image, and into the cluster if one runs
options: --dir FOLDER         of the cluster, before the command (default ${DEFAULT_FOLDER})
         --kubernetes LINE    ${LINE_NAMES.join(' or ')}; without it ${USUAL_LINE}, or that of the cluster that is there`;

class UsageError extends Error {}

function say(line) {
  console.error(`cluster: ${line}`);
}

/** Runs a program in the foreground. @returns {Promise<number>} its status. */
function foreground([command, ...args]) {
  const child = spawn(command, args, { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(statusOf(code, signal)));
  });
}

/** The line that --kubernetes names among the words of a command that takes nothing else. */
function lineIn(command, args) {
  try {
    const { kubernetes } = parseArgs({ args, options: { kubernetes: { type: 'string' } } }).values;
    return kubernetes === undefined ? undefined : checkLine(kubernetes);
  } catch (error) {
    throw new UsageError(`${command}: ${error.message}`);
  }
}

const COMMANDS = {
  async up(cluster, args) {
    const line = lineIn('up', args);
    const began = Date.now();
    await up(cluster, say, line);
    say(
      `Kubernetes ${kubernetesVersion(cluster.kubernetes)} is up in ${cluster.layout.folder}, ${((Date.now() - began) / 1000).toFixed(1)} s`,
    );
    return foreground(cluster.kubectlWords(['get', 'nodes', '-o', 'wide']));
  },

  async down(cluster) {
    say((await down(cluster)) ? 'it is gone' : 'there is none');
    return 0;
  },

  async status(cluster) {
    if (cluster.init === null) {
      console.log(`no cluster runs in ${cluster.layout.folder}`);
      return 3;
    }
    console.log(`Kubernetes ${kubernetesVersion(cluster.kubernetes)} in ${cluster.layout.folder}`);
    const components = cluster.components();
    for (const { name, pid } of components)
      console.log(`${name.padEnd(24)} ${pid === null ? 'not running' : `pid ${pid}`}`);
    await foreground(cluster.kubectlWords(['get', 'nodes', '-o', 'wide']));
    return components.every(({ pid }) => pid !== null) ? 0 : 1;
  },

  kubectl: (cluster, args) => foreground(cluster.kubectlWords(args)),

  async logs(cluster, [component, ...more]) {
    if (!COMPONENT_NAMES.includes(component) || more.length > 0)
      throw new UsageError(`logs: expected one of ${COMPONENT_NAMES.join(', ')}`);
    process.stdout.write(fs.readFileSync(cluster.layout.log(component)));
    return 0;
  },

  async image(cluster) {
    const archive = await makeDriverImage(say);
    const running = cluster.init !== null;
    if (running) await provideImages(cluster, await makeImages());
    say(`the driver's image is ${archive}${running ? ', and in the cluster' : ''}`);
    return 0;
  },

  async deploy(cluster, [overlay, ...more]) {
    if (more.length > 0) throw new UsageError('deploy: expected one overlay');
    await deploy(cluster, overlay ?? 'full');
    return foreground(cluster.kubectlWords(['get', 'pods', '--all-namespaces', '-o', 'wide']));
  },

  async build(_cluster, args) {
    const line = lineIn('build', args);
    for (const set of ['kubernetes', 'sidecars']) await buildPrograms(set, say, line);
    return 0;
  },
};

/** Options of ours stand before the command: all that follows is the command's. */
function parse(words) {
  const at = words.findIndex((word, index) => !word.startsWith('-') && words[index - 1] !== '--dir');
  const own = at === -1 ? words : words.slice(0, at);
  const options = {
    dir: { type: 'string', default: DEFAULT_FOLDER },
    help: { type: 'boolean', default: false },
  };
  try {
    const { values } = parseArgs({ args: own, options });
    return { ...values, command: words[at], args: at === -1 ? [] : words.slice(at + 1) };
  } catch (error) {
    throw new UsageError(error.message);
  }
}

async function main(words) {
  const { dir, help, command, args } = parse(words);
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (!Object.hasOwn(COMMANDS, command ?? ''))
    throw new UsageError(`expected a command, found ${command === undefined ? 'none' : `"${command}"`}`);
  return COMMANDS[command](new Cluster(dir), args);
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error) => {
    console.error(`cluster: ${error.message}`);
    if (error instanceof UsageError) console.error(USAGE);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
