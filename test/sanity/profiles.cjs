// The ways csi-sanity is run against the driver, as data. scripts/sanity.cjs runs them.
'use strict';

const path = require('node:path');

/** The one spec that grows a mounted filesystem. ext4 asks for CAP_SYS_RESOURCE there; xfs and btrfs do not. */
const GROWS_MOUNTED = 'should work if node-expand is called after node-publish';

/** Small enough that the attach-limit spec reaches it with few volumes. */
const MAX_VOLUMES_PER_NODE = 4;

/** Everything csi-sanity can be asked to test: with these flags 95 of its 96 specs run, one is pending for everybody. */
const MAXIMAL = [
  '-csi.testnodevolumeattachlimit',
  `-csi.testvolumemutableparameters=${path.join(__dirname, 'mutable-parameters.yaml')}`,
  `-csi.secrets=${path.join(__dirname, 'secrets.yaml')}`,
];

/** Room for the largest demand: MAX_VOLUMES_PER_NODE + 1 volumes of 10 GiB, sparse. */
const SERVE = ['--capacity', '1Ti', '--max-volumes-per-node', String(MAX_VOLUMES_PER_NODE)];

/**
 * csi-sanity asks the Controller service in specs of other services without asking first whether there is one
 * (csi-test issues 214, 564, 595). These are left out for a plugin that has none.
 */
const USES_CONTROLLER = [
  'Controller Server',
  'should remove target path',
  'single node single writer',
  'NodeStageVolume should fail when no volume capability',
  'does not exist on the specified path',
  'NodeExpandVolume should fail when no volume path',
  'node-expand is called',
];

/**
 * One profile. `needs`: what the machine must give (`root`: loop devices; `mount`: mounting, be it in a user
 * namespace; names of programs). `passed`: how many specs must pass. `onlyWithSysResource`: specs that may fail
 * where CAP_SYS_RESOURCE is missing, and nowhere else.
 * @typedef {{ name: string, what: string, needs: string[], serve: string[], sanity: string[], passed: number,
 *   onlyWithSysResource: string[] }} Profile
 */

const loop = (fsType) => ['--backend', 'loop', '--fs-type', fsType, ...SERVE];

/** @type {Profile[]} */
const PROFILES = [
  {
    name: 'ext4',
    what: 'loop devices with ext4',
    needs: ['root', 'mkfs.ext4', 'resize2fs', 'e2fsck'],
    serve: loop('ext4'),
    sanity: MAXIMAL,
    passed: 95,
    onlyWithSysResource: [GROWS_MOUNTED],
  },
  {
    name: 'xfs',
    what: 'loop devices with xfs',
    needs: ['root', 'mkfs.xfs'],
    serve: loop('xfs'),
    sanity: MAXIMAL,
    passed: 95,
    onlyWithSysResource: [],
  },
  {
    name: 'btrfs',
    what: 'loop devices with btrfs',
    needs: ['root', 'mkfs.btrfs'],
    serve: loop('btrfs'),
    sanity: MAXIMAL,
    passed: 95,
    onlyWithSysResource: [],
  },
  {
    name: 'block',
    what: 'loop devices as raw block volumes',
    needs: ['root'],
    serve: loop('ext4'),
    sanity: [...MAXIMAL, '-csi.testvolumeaccesstype=block'],
    passed: 95,
    onlyWithSysResource: [],
  },
  {
    name: 'tmpfs',
    what: 'one tmpfs per volume',
    needs: ['mount'],
    serve: ['--backend', 'tmpfs', ...SERVE],
    sanity: MAXIMAL,
    passed: 95,
    onlyWithSysResource: [],
  },
  {
    name: 'directory',
    what: 'bind-mounted folders',
    needs: ['mount'],
    serve: ['--backend', 'directory', ...SERVE],
    sanity: MAXIMAL,
    passed: 95,
    onlyWithSysResource: [],
  },
  {
    name: 'memory',
    what: 'no mounts, a model of them',
    needs: [],
    serve: ['--backend', 'memory', ...SERVE],
    sanity: MAXIMAL,
    passed: 95,
    onlyWithSysResource: [],
  },
  {
    name: 'node-only',
    what: 'Identity and Node services only',
    needs: [],
    serve: ['--services', 'node', ...SERVE],
    sanity: [`--ginkgo.skip=${USES_CONTROLLER.join('|')}`],
    passed: 19,
    onlyWithSysResource: [],
  },
];

module.exports = { PROFILES };
