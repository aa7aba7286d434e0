// Starts the bundled driver in this process as a kubelet would meet it, with volumes in memory and so without rights of
// any kind, and keeps what V8 compiled until the first Probe was answered: functions that a start does not call are not
// worth their reading.
//
// usage: node compile-bundle.cjs FOLDER with serve-bundle.js in it
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { promisify } = require('node:util');
const v8 = require('node:v8');

const grpc = require('@grpc/grpc-js');

const PATIENCE_MS = 60_000;

const folder = path.resolve(process.argv[2]);
const CODE = path.join(folder, 'serve.bundle.code');

/** Identity.Probe of a driver that is just starting. */
async function probe(socket) {
  const client = new grpc.Client(`unix://${socket}`, grpc.credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 10,
    'grpc.max_reconnect_backoff_ms': 10,
  });
  const deadline = Date.now() + PATIENCE_MS;
  await promisify(client.waitForReady).call(client, deadline);
  const empty = () => Buffer.alloc(0);
  await promisify(client.makeUnaryRequest).call(
    client,
    '/csi.v1.Identity/Probe',
    empty,
    empty,
    {},
    { deadline },
  );
}

async function main(scratch) {
  const socket = path.join(scratch, 'csi.sock');
  const { script, load } = require(path.join(folder, 'serve-bundle.js')).serveBundle();
  const options = {
    '--backend': 'memory',
    '--endpoint': `unix://${socket}`,
    '--data-dir': path.join(scratch, 'data'),
    '--node-id': 'build',
    '--control': 'false',
    '--log-level': 'silent',
  };
  void load().serveAlone(Object.entries(options).flat()).parse();
  await probe(socket);
  // `serve` sets it when it runs; code is taken only under the flags that it was compiled under.
  v8.setFlagsFromString('--heap-growing-percent=0');
  fs.writeFileSync(`${CODE}.new`, script.createCachedData());
  fs.renameSync(`${CODE}.new`, CODE);
}

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'fc-build-'));
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));
main(scratch).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
