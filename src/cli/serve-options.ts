import type { Options } from 'yargs';
import { DEFAULT_DRIVER_NAME, DEFAULT_FS_TYPE, DEFAULT_SIZE } from '../server/defaults';

/** `fake-csi serve`: every option, as yargs reads it. docs/options.md is the table for people. */
export interface ServeArguments {
  endpoint?: string;
  dataDir?: string;
  nodeId?: string;
  driverName: string;
  services: 'all' | 'node' | 'controller';
  advertise?: 'all' | 'node' | 'controller';
  backend?: 'loop' | 'tmpfs' | 'directory' | 'memory';
  fsType: string;
  capacity?: string;
  maxVolumeSize?: string;
  defaultSize: string;
  maxVolumesPerNode: number;
  topology: string[];
  capabilities: string;
  scenario: string[];
  gallery: string[];
  secretsFile?: string;
  strict: boolean;
  strictLimits: boolean;
  durability?: 'durable' | 'process';
  control?: boolean;
  controlListen?: string;
  controlTokenFile?: string;
  register: boolean;
  kubeletDir?: string;
  kubeletEndpoint?: string;
  logLevel: string;
}

export const options: Record<string, Options> = {
  endpoint: {
    type: 'string',
    describe: 'Unix socket to serve on [$CSI_ENDPOINT, then unix://<data-dir>/csi/csi.sock]',
  },
  'data-dir': {
    type: 'string',
    describe:
      'Folder for volumes and records [$FAKE_CSI_DATA_DIR, then ./.fake-csi in a checkout, /var/lib/fake-csi elsewhere]',
  },
  'node-id': { type: 'string', describe: 'Id of this node [$FAKE_CSI_NODE_ID, then the host name]' },
  'driver-name': { type: 'string', default: DEFAULT_DRIVER_NAME, describe: 'Name of the plugin' },
  services: {
    choices: ['all', 'node', 'controller'],
    default: 'all',
    describe: 'Services of this process: all five, Identity and Node, or Identity and the controllers',
  },
  advertise: {
    choices: ['all', 'node', 'controller'],
    describe:
      'What GetPluginCapabilities speaks for: a node process beside a controller says all [as --services]',
  },
  backend: {
    choices: ['loop', 'tmpfs', 'directory', 'memory'],
    describe:
      'What holds the bytes of a volume that names no backend [loop where mounting is allowed, else memory]',
  },
  'fs-type': {
    choices: ['ext4', 'xfs', 'btrfs'],
    default: DEFAULT_FS_TYPE,
    describe: 'Filesystem of a volume that names none',
  },
  capacity: {
    type: 'string',
    describe: 'Bytes for all volumes and snapshots together, such as 100Gi [unlimited]',
  },
  'max-volume-size': { type: 'string', describe: 'Largest size of one volume [4Ei]' },
  'default-size': { type: 'string', default: DEFAULT_SIZE, describe: 'Size of a volume that names none' },
  'max-volumes-per-node': { type: 'number', default: 0, describe: 'Volumes a node takes; 0 is no limit' },
  topology: {
    type: 'string',
    array: true,
    default: [],
    describe: 'Topology segment key=value of this node; a key given again adds a place without a node',
  },
  capabilities: {
    type: 'string',
    default: 'all',
    describe:
      'Capabilities to switch off (-NAME), on (+NAME), or none,NAME,…; node.NAME where services share a name',
  },
  scenario: {
    type: 'string',
    array: true,
    default: [],
    describe:
      'Scenario file, or folder of them, armed before the socket listens and read again when it changes; may be given several times',
  },
  gallery: {
    type: 'string',
    array: true,
    default: [],
    describe:
      'As --scenario, but loaded without being armed: a volume may name one, and `fake-csi scenario arm` arms one',
  },
  'secrets-file': {
    type: 'string',
    describe: 'JSON file of the identities whose secrets are accepted [none are asked for]',
  },
  strict: {
    type: 'boolean',
    default: false,
    describe: 'Unpublish and unstage of an unknown volume is NOT_FOUND instead of OK',
  },
  'strict-limits': {
    type: 'boolean',
    default: true,
    describe: 'Refuse fields beyond the Size Limits of the specification',
  },
  durability: {
    choices: ['durable', 'process'],
    describe:
      'Whether records survive power loss or only the death of the process [durable; process for memory]',
  },
  control: {
    type: 'boolean',
    default: true,
    describe: 'The control API on <data-dir>/control/control.sock; --no-control for none',
  },
  'control-listen': {
    type: 'string',
    describe: 'Loopback address and port for the control API too, such as 127.0.0.1:9810',
  },
  'control-token-file': {
    type: 'string',
    describe:
      'Bearer token that --control-listen asks for [$FAKE_CSI_CONTROL_TOKEN, then <data-dir>/control-token, made when missing]',
  },
  register: {
    type: 'boolean',
    default: false,
    describe: 'Register with the kubelet of this node, as node-driver-registrar does (docs/registration.md)',
  },
  'kubelet-dir': {
    type: 'string',
    describe:
      "The kubelet's --root-dir [/var/lib/kubelet with --register]; mount propagation is checked there",
  },
  'kubelet-endpoint': {
    type: 'string',
    describe: 'Path of the CSI socket as the kubelet sees it, where a container has another [as --endpoint]',
  },
  'log-level': {
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    describe: 'Least level of the JSON log on stderr',
  },
};

/** Without the name of the program. */
export const examples: [string, string][] = [
  ['serve --scenario scenarios/slow-attach.yaml', 'fails as that file says'],
  ['serve --data-dir ./data', 'all services, real ext4 volumes when run as root'],
  ['serve --services node --backend tmpfs', 'a node-only plugin for static and inline volumes'],
  ['serve --services node --register', 'on a node, with no node-driver-registrar'],
  ['serve --capabilities=-MODIFY_VOLUME,-node.EXPAND_VOLUME', 'without some capabilities'],
];
