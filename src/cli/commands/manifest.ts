import type { Argv } from 'yargs';
import { type Command, UsageError } from '../command';
import type { ManifestOptions } from '../manifest/manifest';
import { print, printJson } from '../output';

interface Arguments extends Omit<ManifestOptions, 'scenarios' | 'only'> {
  scenario: string[];
  only: string[];
  json: boolean;
}

export const manifest: Command<Arguments> = {
  command: 'manifest',
  describe: 'Print the Kubernetes objects of an installation, for kubectl apply -f -',
  builder: (y: Argv) =>
    y
      .options({
        overlay: {
          choices: ['node-only', 'full'],
          default: 'node-only',
          describe: 'One container on each node, or the controller and the standard sidecars too',
        },
        snapshots: {
          type: 'boolean',
          default: true,
          describe: '--no-snapshots: full without csi-snapshotter, for a cluster without the CRDs',
        },
        'driver-name': { type: 'string', default: 'fake.csi.test', describe: 'Name of the plugin' },
        namespace: {
          type: 'string',
          default: 'kube-system',
          describe: 'Where pods, accounts and ConfigMaps are; has to exist',
        },
        image: { type: 'string', describe: "The driver's image [fake-csi:dev]" },
        'kubelet-dir': {
          type: 'string',
          default: '/var/lib/kubelet',
          describe: "The kubelet's --root-dir on the nodes",
        },
        'data-dir': {
          type: 'string',
          default: '/var/lib/fake-csi',
          describe: 'Folder on the nodes for volumes and records',
        },
        backend: {
          choices: ['loop', 'tmpfs', 'directory'],
          default: 'loop',
          describe: 'What holds the bytes of a volume that names no backend',
        },
        capacity: { type: 'string', describe: 'Bytes for all volumes together, such as 100Gi [unlimited]' },
        'max-volume-size': { type: 'string', describe: 'Largest size of one volume [4Ei]' },
        'default-size': { type: 'string', describe: 'Size of a volume that names none [1Gi]' },
        'max-volumes-per-node': { type: 'number', describe: 'Volumes a node takes [no limit]' },
        topology: {
          type: 'string',
          array: true,
          default: [],
          describe: 'Topology segment key=value that every node has',
        },
        strict: {
          type: 'boolean',
          default: false,
          describe: 'Unpublish and unstage of an unknown volume is NOT_FOUND instead of OK',
        },
        'log-level': {
          choices: ['debug', 'info', 'warn', 'error', 'silent'],
          describe: 'Of the driver [info]',
        },
        scenario: {
          type: 'string',
          array: true,
          default: [],
          describe:
            'Scenario files or folders, armed by the ConfigMap fake-csi-armed; edits of it are followed',
        },
        only: { type: 'string', array: true, default: [], describe: 'Objects of these kinds only' },
        json: { type: 'boolean', default: false, describe: 'A List in JSON, instead of YAML' },
      })
      .example('$0 manifest --overlay full | kubectl apply -f -', 'as kubectl apply -k deploy/overlays/full')
      .example('$0 manifest --scenario my.yaml --only ConfigMap', 'the scenarios alone, to change them'),
  run: async ({ scenario, json, ...options }) => {
    const { makeManifest } = require('../manifest/manifest') as typeof import('../manifest/manifest');
    for (const [name, value] of Object.entries(options))
      if (Array.isArray(value) && !['_', 'topology', 'only'].includes(name))
        throw new UsageError(`--${name}: expected it once, found it ${value.length} times`);
    let objects: ReturnType<typeof makeManifest>;
    try {
      objects = makeManifest({ ...options, scenarios: scenario });
    } catch (error) {
      // What a scenario's file says wrong is no matter of the command line.
      if ((error as Error).message.startsWith('--')) throw new UsageError((error as Error).message);
      throw error;
    }
    if (json) return printJson({ apiVersion: 'v1', kind: 'List', items: objects });
    const { stringify } = require('yaml') as typeof import('yaml');
    // kubectl reads YAML 1.1, where more words have to be quoted to be texts.
    const format = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
    print(objects.map((object) => stringify(object, format)).join('---\n'));
  },
};
