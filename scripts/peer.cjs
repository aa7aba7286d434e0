// npm run peer: a CSI driver that is not ours, to try `fake-csi conformance` and `fake-csi rehearse` on.
'use strict';

require('./lib/node-version.cjs').requireNode(`${__dirname}/..`);

const path = require('node:path');
const { parseArgs } = require('node:util');

const { SupervisedPeer, buildPeer } = require('./lib/peer.cjs');
const { Children } = require('./lib/process.cjs');

const root = path.join(__dirname, '..');

const USAGE = `usage: npm run peer -- --endpoint unix:///run/peer/csi.sock [--driver-name NAME]
The mock driver of Kubernetes' own end-to-end tests on a socket, started again when it dies. It mounts nothing. Needs Go.`;

function parse(words) {
  const string = { type: 'string' };
  const { values } = parseArgs({ args: words, options: { endpoint: string, 'driver-name': string } });
  const socket = /^unix:\/\/(\/.+)$/.exec(values.endpoint ?? '')?.[1];
  if (socket === undefined)
    throw new Error(
      `--endpoint: expected unix:// and an absolute path, found ${values.endpoint ?? 'nothing'}`,
    );
  return { socket, name: values['driver-name'] ?? 'fake.csi.test' };
}

async function main({ socket, name }) {
  const children = new Children();
  children.stopWithUs();
  const { binary, problem } = await buildPeer(children, root, (line) => console.error(`peer: ${line}`));
  if (problem !== undefined) throw new Error(problem);
  const peer = new SupervisedPeer(children, binary, socket, { name });
  await peer.ready();
  console.log(
    `${name} listens on ${socket}\n\nTry next, from another terminal:\n  npx fake-csi conformance --endpoint unix://${socket}\n  npx fake-csi rehearse examples/pod.yaml --endpoint unix://${socket} --steps 'create; wait running; delete; wait clean'`,
  );
}

let options;
try {
  options = parse(process.argv.slice(2));
} catch (error) {
  console.error(`peer: ${error.message}\n${USAGE}`);
  process.exit(2);
}
main(options).catch((error) => {
  console.error(`peer: ${error.message}`);
  process.exit(1);
});
