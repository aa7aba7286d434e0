// The least that a driver on grpc-js is: two calls answered, as its own examples have it.
//
// usage: node bare-server.cjs SOCKET
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [socket] = process.argv.slice(2);
const proto = path.join(__dirname, '../../proto');
const { csi } = grpc.loadPackageDefinition(
  loader.loadSync(path.join(proto, 'csi.proto'), { includeDirs: [proto], longs: String }),
);

const server = new grpc.Server();
const types = [
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
];
server.addService(csi.v1.Identity.service, {
  Probe: (_call, answer) => answer(null, { ready: { value: true } }),
});
server.addService(csi.v1.Node.service, {
  NodeGetCapabilities: (_call, answer) =>
    answer(null, { capabilities: types.map((type) => ({ rpc: { type } })) }),
});
fs.rmSync(socket, { force: true });
server.bindAsync(`unix://${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
process.once('SIGTERM', () => process.exit(0));
