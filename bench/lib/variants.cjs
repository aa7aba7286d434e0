// What is measured: our driver in some ways and the peer, each driven with the same seven calls.
'use strict';

const { NODE_FLAGS } = require('../../scripts/lib/node-flags.cjs');
const path = require('node:path');

/** Without these the CO has no ControllerPublishVolume to call, as with the peer's defaults. */
const NO_ATTACH = '--capabilities=-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES';

/** The same as ext4: how far two that are the same lie apart is what a ratio of any other two is to be read by. */
const CONTROL = 'ext4-again';

/** What starts and calls cost whoever serves CSI with these: servers of two calls, and no volumes. */
const BARE = { node: 'bare-node', go: 'bare-go' };

/**
 * @typedef {{ name: string, what: string, fsType: string, bare?: true,
 *   command: (paths: { socket: string, dir: string }) => string[] }} Variant
 *   `fsType`: asked for in each capability, and verified on each target. `bare`: it answers Probe and NodeGetCapabilities alone.
 */

function ours(root, name, what, fsType, backend) {
  return {
    name,
    what,
    fsType,
    command: ({ socket, dir }) => [
      process.execPath,
      ...NODE_FLAGS,
      path.join(root, 'dist/cli/main.js'),
      'serve',
      '--endpoint',
      `unix://${socket}`,
      '--data-dir',
      path.join(dir, 'data'),
      '--node-id',
      'bench-node',
      '--capacity',
      '1Ti',
      '--max-volumes-per-node',
      '0',
      NO_ATTACH,
      ...backend,
    ],
  };
}

function hostpath(binary) {
  return {
    name: 'hostpath',
    what: 'csi-driver-host-path, bind-mounted folders',
    fsType: '',
    command: ({ socket, dir }) => [
      binary,
      `--endpoint=unix://${socket}`,
      '--nodeid=bench-node',
      `--statedir=${path.join(dir, 'data')}`,
    ],
  };
}

function bare(root, client) {
  const common = { fsType: '', bare: true };
  const server = path.join(root, 'bench/lib/bare-server.cjs');
  return [
    {
      ...common,
      name: BARE.node,
      what: 'a server on grpc-js that answers Probe and NodeGetCapabilities, and has no volumes',
      command: ({ socket }) => [process.execPath, server, socket],
    },
    {
      ...common,
      name: BARE.go,
      what: 'the same in Go, on the library that csi-driver-host-path has: what that can hardly be faster than',
      command: ({ socket }) => [client, '-bare', socket],
    },
  ];
}

/** @returns {Variant[]} the peer first, when there is one; what is bare last. */
function variants(root, peerBinary, client) {
  return [
    ...(peerBinary === null ? [] : [hostpath(peerBinary)]),
    ours(root, 'ext4', 'ours, a loop device with ext4 per volume', 'ext4', ['--backend', 'loop']),
    // The peer's records survive the death of its process, not of the machine: this is like for like.
    ours(root, 'ext4-process', 'the same, records not synced to the disk', 'ext4', [
      '--backend',
      'loop',
      '--durability',
      'process',
    ]),
    ours(root, 'ext4-rules', 'ext4 with 50 armed rules that match none of the calls', 'ext4', [
      '--backend',
      'loop',
      '--scenario',
      path.join(root, 'bench/fifty-rules.yaml'),
    ]),
    ours(root, CONTROL, 'ext4 once more, no different from it', 'ext4', ['--backend', 'loop']),
    ours(root, 'directory', 'ours, bind-mounted folders', '', ['--backend', 'directory']),
    ...bare(root, client),
  ];
}

module.exports = { BARE, CONTROL, variants };
