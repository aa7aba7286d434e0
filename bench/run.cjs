// npm run bench: our driver against csi-driver-host-path, interleaved, on this machine. Needs root and Go.
'use strict';

require('../scripts/lib/node-version.cjs').requireNode(`${__dirname}/..`);

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { goBuild, goBuildIsStale, goProblem } = require('../scripts/lib/go.cjs');
const { isRoot, leftBehind, privateMounts, snapshot } = require('../scripts/lib/machine.cjs');
const { prepareOrExit } = require('../scripts/lib/prepare.cjs');
const { Children } = require('../scripts/lib/process.cjs');
const { VERSION, buildHostpath } = require('./lib/hostpath.cjs');
const { PLANS, Samples, runRound } = require('./lib/plan.cjs');
const { report } = require('./lib/report.cjs');
const { CONTROL, variants } = require('./lib/variants.cjs');

const root = path.join(__dirname, '..');

const USAGE = `usage: npm run bench -- [--quick] [--rounds N] [--repeats N] [--levels N,…] [--only VARIANT,…]
                          [--out FILE] [--peer BINARY | --no-peer]
--quick        one short round, to see that it works
--rounds N     rounds to take the medians of (default ${PLANS.full.rounds})
--repeats N    turns that the drivers take at each cell of cycles in a round (default ${PLANS.full.repeats})
--levels N,…    volumes that stand published beside the cycles, in rising order (default ${PLANS.full.levels.join(',')})
--only VARIANT,…  these alone (ext4, ext4-process, ext4-rules, directory, bare-node, bare-go), and no peer: for one question
                at a time; ${CONTROL} is ext4 once more, to see how far two that are the same lie apart
--out FILE     write the Markdown there as well
--peer BINARY  a hostpathplugin already built, instead of building ${VERSION}
--no-peer      ours alone`;

class UsageError extends Error {}

function parse(words) {
  const options = { plan: PLANS.full, out: null, peer: undefined, only: null };
  const value = (name, given) => {
    if (given === undefined) throw new UsageError(`${name}: expected a value after it`);
    return given;
  };
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === '--quick') options.plan = PLANS.quick;
    else if (word === '--rounds' || word === '--repeats') {
      const times = Number(value(word, words[++i]));
      if (!Number.isInteger(times) || times < 1)
        throw new UsageError(`${word}: expected a whole number above 0`);
      options.plan = { ...options.plan, [word.slice(2)]: times };
    } else if (word === '--levels') {
      const levels = value(word, words[++i]).split(',').map(Number);
      if (!levels.every((level) => Number.isInteger(level) && level >= 0))
        throw new UsageError('--levels: expected whole numbers of published volumes, such as 0,100');
      options.plan = { ...options.plan, levels };
    } else if (word === '--only') options.only = value(word, words[++i]).split(',');
    else if (word === '--out') options.out = value(word, words[++i]);
    else if (word === '--peer') options.peer = path.resolve(value(word, words[++i]));
    else if (word === '--no-peer') options.peer = null;
    else throw new UsageError(`unknown option "${word}"`);
  }
  if (options.only !== null) options.peer = null;
  return options;
}

/** Of all variants those that were asked for; the control is of use to a question about two of ours alone. */
function chosen(all, only) {
  if (only === null) return all.filter(({ name }) => name !== CONTROL);
  const unknown = only.find((name) => !all.some((variant) => variant.name === name));
  if (unknown !== undefined)
    throw new UsageError(`--only: no variant "${unknown}" (${all.map(({ name }) => name).join(', ')})`);
  return all.filter(({ name }) => only.includes(name));
}

async function buildClient(children, say) {
  const moduleDir = path.join(__dirname, 'client');
  const binary = path.join(root, '.cache/bin/bench-client');
  if (!goBuildIsStale(moduleDir, binary)) return binary;
  const problem = goProblem(moduleDir);
  if (problem === null) say('building the bench client');
  const failed = problem ?? (await goBuild(children, { moduleDir, packagePath: '.', binary }));
  if (failed !== null) throw new Error(failed);
  return binary;
}

/** @returns {{ binary: string | null, problem: string | null, name: string }} */
async function findPeer(children, given, say) {
  if (given === null)
    return { binary: null, problem: 'it was not asked for (--no-peer or --only)', name: '' };
  if (given !== undefined)
    return { binary: given, problem: null, name: `\`${path.basename(given)}\`, given with --peer` };
  const built = await buildHostpath(children, root, say);
  if (built.problem === undefined) {
    return { binary: built.binary, problem: null, name: `csi-driver-host-path ${VERSION}` };
  }
  say(`no peer: ${built.problem}`);
  return { binary: null, problem: built.problem, name: '' };
}

async function measure(children, { plan, list, client, mountWords, folder, say }) {
  const before = snapshot();
  const samples = new Samples();
  try {
    for (let round = 0; round < plan.rounds; round++) {
      await runRound(
        children,
        { plan, round, variants: list, client, privateMounts: mountWords, folder, say },
        samples,
      );
    }
  } finally {
    const left = await leftBehind(before, { folder, everywhere: false });
    for (const line of left) console.error(`bench: left behind: ${line}`);
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

async function main(words) {
  const options = parse(words);
  if (!isRoot()) throw new UsageError('mounting needs root');
  const mountWords = privateMounts();
  if (mountWords === null) throw new UsageError('unshare -m is refused here: mounting needs CAP_SYS_ADMIN');
  const say = (line) => console.error(`bench: ${line}`);
  await prepareOrExit(root);
  const children = new Children();
  const release = children.stopWithUs();
  const client = await buildClient(children, say);
  const peer = await findPeer(children, options.peer, say);
  const list = chosen(variants(root, peer.binary, client), options.only);
  release();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fcsi-bench-'));
  children.stopWithUs(() => fs.rmSync(folder, { recursive: true, force: true }));
  const [load] = os.loadavg();
  const samples = await measure(children, { plan: options.plan, list, client, mountWords, folder, say });
  const text = report({
    samples,
    plan: options.plan,
    variants: list,
    peer: peer.name,
    peerProblem: peer.problem,
    load,
  });
  if (options.out !== null) fs.writeFileSync(options.out, text);
  process.stdout.write(text);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`bench: ${error.message}`);
  if (error instanceof UsageError) console.error(USAGE);
  process.exit(error instanceof UsageError ? 2 : 1);
});
