import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { readConfig } from '../../../src/cli/serve-config';
import { options, type ServeArguments } from '../../../src/cli/serve-options';

const defaults: ServeArguments = {
  dataDir: '/data',
  nodeId: 'n1',
  driverName: 'fake.csi.test',
  services: 'all',
  fsType: 'ext4',
  defaultSize: '1Gi',
  maxVolumesPerNode: 0,
  topology: [],
  scenario: [],
  gallery: [],
  capabilities: 'all',
  strict: false,
  strictLimits: true,
  register: false,
  logLevel: 'info',
};

const read = (args: Partial<ServeArguments> = {}, environment: NodeJS.ProcessEnv = {}) =>
  readConfig({ ...defaults, ...args }, environment);

describe('readConfig', () => {
  it('listens under the data folder unless told otherwise', () => {
    expect(read().socket).toBe('/data/csi/csi.sock');
    expect(read({}, { CSI_ENDPOINT: 'unix:///run/a.sock' }).socket).toBe('/run/a.sock');
    expect(read({ endpoint: '/run/b.sock' }, { CSI_ENDPOINT: 'unix:///run/a.sock' }).socket).toBe(
      '/run/b.sock',
    );
  });

  it('knows of a kubelet when it is told to register, or where one is', () => {
    expect(read().kubelet).toBeUndefined();
    expect(read({ register: true }).kubelet).toEqual({
      dir: '/var/lib/kubelet',
      register: true,
      endpoint: undefined,
    });
    expect(read({ kubeletDir: '/data/kubelet/' }).kubelet).toMatchObject({
      dir: '/data/kubelet',
      register: false,
    });
    const kubeletEndpoint = '/var/lib/kubelet/plugins/fake.csi.test/csi.sock';
    expect(read({ register: true, kubeletEndpoint }).kubelet?.endpoint).toBe(kubeletEndpoint);
  });

  it.each([
    [{ endpoint: 'tcp://10.0.0.1:9000' }, /found the scheme tcp/],
    [{ endpoint: '/run/csi' }, /ends in \.sock/],
    [{ endpoint: `/run/${'a'.repeat(100)}/csi.sock` }, /at most 107 bytes, this one has 114/],
    [{ driverName: '' }, /--driver-name/],
    [{ driverName: '-fake' }, /--driver-name/],
    [{ driverName: 'fake_csi' }, /--driver-name/],
    [{ driverName: 'a'.repeat(64) }, /--driver-name/],
    [{ nodeId: '' }, /--node-id/],
    [{ nodeId: 'n'.repeat(257) }, /--node-id: expected 1 to 256 bytes, found 257/],
    [{ capacity: '10 Gigs' }, /--capacity: expected a size/],
    [{ defaultSize: '0' }, /--default-size/],
    [{ maxVolumesPerNode: -1 }, /--max-volumes-per-node/],
    [{ maxVolumesPerNode: Number.NaN }, /--max-volumes-per-node/],
    [{ topology: ['zone'] }, /--topology/],
    [{ topology: ['a/b/c=d'] }, /--topology/],
    [{ topology: ['zone='] }, /--topology\["zone"\]: expected 1 to 63 letters/],
    [{ topology: ['zone=a', 'Zone=b'] }, /--topology: expected keys that differ in more than case/],
    [{ topology: ['a.test/zone=a', 'b.test/rack=1'] }, /one prefix for all keys.*a\.test and b\.test/],
    [{ topology: [`${'p'.repeat(64)}/zone=a`] }, /--topology/],
    [{ topology: ['Upper.test/zone=a'] }, /--topology/],
    [{ driverName: 'a..b' }, /--driver-name/],
    [
      { register: true, services: 'controller' as const },
      /--register: .*--services all or node, found controller/,
    ],
    [{ kubeletEndpoint: '/csi/csi.sock' }, /--kubelet-endpoint: it is told at registration; add --register/],
    [{ register: true, kubeletEndpoint: 'csi.sock' }, /--kubelet-endpoint: expected an absolute path/],
    [
      { register: true, kubeletEndpoint: `/${'k'.repeat(107)}` },
      /--kubelet-endpoint \/k+: a Unix socket's path has at most 107 bytes, this one has 108/,
    ],
    [{ driverName: 'a-.b' }, /--driver-name/],
    [{ driverName: 'a.b.' }, /--driver-name/],
    [{ capabilities: '-NOPE' }, /unknown capability "-?NOPE"/],
    [{ capabilities: '-PUBLISH_UNPUBLISH_VOLUME' }, /needs controller\.PUBLISH_UNPUBLISH_VOLUME/],
    [{ secretsFile: '/nowhere.json' }, /--secrets-file \/nowhere\.json: ENOENT/],
  ])('refuses %j in one line', (args, message) => {
    expect(() => read(args)).toThrow(message);
    try {
      read(args);
    } catch (error) {
      expect((error as Error).message).not.toContain('\n');
    }
  });

  it('reads segments of this node, and places beside it', () => {
    expect(read({ topology: ['zone=a', 'rack=1', 'zone=b'] })).toMatchObject({
      topology: { zone: 'a', rack: '1' },
      extraTopologies: [{ zone: 'b', rack: '1' }],
    });
    expect(read({ driverName: 'x.test' }).topology).toEqual({ 'topology.x.test/zone': 'default' });
    expect(read({ driverName: 'X.Test' }).topology).toEqual({ 'topology.x.test/zone': 'default' });
    const long = `${'n'.repeat(58)}.test`;
    expect(read({ driverName: long }).topology).toEqual({ [`${long}/zone`]: 'default' });
  });

  it('speaks for the whole plugin from a controller, for itself from a node', () => {
    expect(read({ services: 'controller' }).advertise).toBe('all');
    expect(read({ services: 'node' }).advertise).toBe('node');
    expect(read({ services: 'node', advertise: 'all' }).advertise).toBe('all');
  });
});

describe('docs/options.md', () => {
  const docs = readFileSync(path.join(__dirname, '../../../docs/options.md'), 'utf8');
  it.each(Object.keys(options))('has --%s', (name) => {
    expect(docs).toContain(`| \`--${name}\` |`);
  });
});
