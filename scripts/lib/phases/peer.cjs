// What we say of other drivers, on one that is not ours: each outcome of the specification's cases is the one in
// docs/conformance.md, and a rehearsal drives it in real time as the kubelet would.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { SupervisedPeer, buildPeer } = require('../peer.cjs');
const { leftOut, result } = require('./result.cjs');

const TIMEOUT_MS = 5 * 60_000;

const STEPS = 'create; wait running; delete postgres-0; wait gone; wait clean';

/** The order in which a pod's volume comes and goes, questions about capabilities left out. */
const LIFE = [
  'GetPluginInfo',
  'NodeGetInfo',
  'CreateVolume',
  'ControllerPublishVolume',
  'NodeStageVolume',
  'NodePublishVolume',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'ControllerUnpublishVolume',
];

/** In the table, of a race that the driver may win or lose. */
const BY_CHANCE = 'by chance';

/** The last column of the table: what was found on this driver when the table was written. */
function documented(root) {
  const text = fs.readFileSync(path.join(root, 'docs/conformance.md'), 'utf8');
  return new Map(
    [...text.matchAll(/^\| ([A-Z]+\d+) \|.* \| ([a-z/ ]+) \|$/gm)].map(([, id, outcome]) => [
      id,
      outcome === 'n/a' ? 'not applicable' : outcome,
    ]),
  );
}

async function conformance({ root, children }, endpoint, total) {
  const { output } = await children.run(
    process.execPath,
    [
      path.join(root, 'dist/cli/main.js'),
      'conformance',
      '--endpoint',
      endpoint,
      '--timeout',
      '20s',
      '--json',
    ],
    { cwd: root, timeoutMs: TIMEOUT_MS },
  );
  const expected = documented(root);
  let cases;
  try {
    ({ cases } = JSON.parse(output));
  } catch {
    total.failed += 1;
    total.output += output;
    return;
  }
  for (const { id, status, found } of cases) {
    if (status === expected.get(id) || (expected.get(id) === BY_CHANCE && status !== 'not applicable'))
      total.passed += 1;
    else {
      total.failed += 1;
      total.output += `conformance ${id}: ${status} (${found ?? ''}), and ${expected.get(id)} in docs/conformance.md\n`;
    }
  }
}

async function rehearsal({ root, children }, endpoint, total) {
  const { status, output } = await children.run(
    process.execPath,
    [
      path.join(root, 'dist/cli/main.js'),
      'rehearse',
      path.join(root, 'examples/postgres.yaml'),
      ...['--endpoint', endpoint, '--real-time', '--steps', STEPS, '--format', 'calls'],
    ],
    { cwd: root, timeoutMs: TIMEOUT_MS },
  );
  const seen = [...output.matchAll(/\b([A-Z]\w+(?:Volume|Info))\b/g)].map(([, rpc]) => rpc);
  const order = LIFE.filter((rpc) => seen.includes(rpc)).sort((a, b) => seen.indexOf(a) - seen.indexOf(b));
  if (status === 0 && order.join() === LIFE.join()) total.passed += 1;
  else {
    total.failed += 1;
    total.output += `rehearse --endpoint: exit code ${status}, expected 0 and the calls ${LIFE.join(', ')}\n${output}`;
  }
}

async function peer(context) {
  const { root, children, folder } = context;
  const { binary, problem } = await buildPeer(children, root, () => {});
  if (problem !== undefined) return leftOut(`the mock driver of Kubernetes' tests is not built: ${problem}`);
  const total = result({});
  const socket = path.join(folder, 'peer.sock');
  const other = new SupervisedPeer(children, binary, socket);
  try {
    await other.ready();
    await conformance(context, `unix://${socket}`, total);
    await rehearsal(context, `unix://${socket}`, total);
  } finally {
    await other.stop();
  }
  return total;
}

module.exports = { peer };
