import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { inspectFolder } from '../../../src/kubelet/inspect/inspect';
import { type MountLine, MountTable } from '../../../src/kubelet/inspect/mount-table';
import type { Inspection } from '../../../src/kubelet/inspect/report';
import { inspectionText } from '../../../src/kubelet/inspect/text';
import type { KubeletVersion } from '../../../src/kubelet/versions';
import { ONE_POD, play, pod } from './harness';

/** The folder of a node with a running pod, as a rehearsal leaves it, and the mounts that a real one would have. */
interface Node {
  readonly root: string;
  readonly pods: string[];
  readonly volume: string;
  readonly stage: string;
  target(at?: number): string;
  readonly mounts: MountLine[];
}

const folders: string[] = [];
const servers: net.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

const bind = (mountPoint: string, more: Partial<MountLine> = {}): MountLine => ({
  mountPoint,
  root: '/',
  device: { major: 7, minor: 3 },
  fsType: 'ext4',
  source: '/dev/loop3',
  options: ['rw', 'relatime'],
  ...more,
});

async function node(
  manifests = ONE_POD,
  version: KubeletVersion = '1.36',
  capabilities?: string,
): Promise<Node> {
  const root = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'inspect-'));
  folders.push(root);
  const { outcome } = await play(manifests, 'create; wait running', {
    rootDir: root,
    version,
    ...(capabilities !== undefined && { capabilities }),
  });
  expect(outcome.failure).toBeUndefined();
  const pods = fs.readdirSync(path.join(root, 'pods')).sort();
  const csi = (uid = '') => path.join(root, 'pods', uid, 'volumes/kubernetes.io~csi');
  const [volume = ''] = fs.readdirSync(csi(pods[0]));
  const drivers = path.join(root, 'plugins/kubernetes.io/csi/fake.csi.test');
  const [key = ''] = fs.readdirSync(drivers);
  const stage = path.join(drivers, key, 'globalmount');
  const target = (at = 0) => path.join(csi(pods[at]), volume, 'mount');
  fs.mkdirSync(path.join(root, 'plugins_registry'));
  const server = net.createServer().listen(path.join(root, 'plugins_registry/fake.csi.test-reg.sock'));
  await once(server, 'listening');
  servers.push(server);
  return {
    root,
    pods,
    volume,
    stage,
    target,
    mounts: [bind(stage), ...pods.map((_, at) => bind(target(at)))],
  };
}

function look(
  { root, mounts }: Pick<Node, 'root' | 'mounts'>,
  { version = '1.36', problem }: { version?: KubeletVersion; problem?: string } = {},
): Inspection {
  return inspectFolder({ root, version, mounts: new MountTable(mounts, () => problem), mountsOf: 'a test' });
}

const found = ({ findings }: Inspection, code: string) => findings.find((finding) => finding.code === code);
const wrong = ({ findings }: Inspection) =>
  findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code);

test('a node where everything fits: what is there, what is mounted, and what a restart brings', async () => {
  const one = await node();
  const seen = look(one);
  expect(wrong(seen)).toEqual([]);
  expect(seen.volumes).toEqual([
    {
      podUid: one.pods[0],
      name: one.volume,
      mode: 'Filesystem',
      data: expect.objectContaining({ driverName: 'fake.csi.test', specVolID: one.volume }),
      mount: { source: '/dev/loop3', fsType: 'ext4', readOnly: false, layers: 1 },
      subPaths: [],
      afterRestart: [
        'reconstructed, device and pod mount Uncertain',
        expect.stringMatching(/NodeStageVolume .* NodePublishVolume again, .* on what is mounted already$/),
        expect.stringMatching(/NodeUnpublishVolume, then NodeUnstageVolume/),
        expect.stringMatching(/vol_data\.json stays \(1\.36\)$/),
      ],
    },
  ]);
  expect(seen.staged).toEqual([
    expect.objectContaining({ path: one.stage, driver: 'fake.csi.test', pods: one.pods }),
  ]);
  expect(inspectionText(seen)).toContain('Everything fits');
  const older = look(one, { version: '1.32' });
  expect(older.volumes[0]?.afterRestart.at(-1)).toMatch(/removes vol_data\.json .*\(1\.32\)$/);
});

test('what it says of a restart is what a rehearsal of the restart does', async () => {
  const one = await node();
  expect(look(one).volumes[0]?.afterRestart[1]).toMatch(
    /^the pod is there: NodeStageVolume .* NodePublishVolume/,
  );
  const restarted = await play(
    ONE_POD,
    'create; wait running; kubelet restart; wait state data mounted; assert calls NodeStageVolume =2; assert calls NodePublishVolume =2',
  );
  expect(restarted.outcome.failure).toBeUndefined();
});

describe('vol_data.json of a pod', () => {
  test.each([
    ['missing', 'vol-data-missing', (file: string) => fs.rmSync(file)],
    ['empty', 'vol-data-empty', (file: string) => fs.truncateSync(file)],
    ['cut off', 'vol-data-corrupt', (file: string) => fs.truncateSync(file, 20)],
    ['a list', 'vol-data-corrupt', (file: string) => fs.writeFileSync(file, '["a"]')],
    ['with a number', 'vol-data-corrupt', (file: string) => fs.writeFileSync(file, '{"volumeHandle":1}')],
    ['NULs', 'vol-data-corrupt', (file: string) => fs.writeFileSync(file, '\0\0\0\0')],
    ['a sparse file of 1 GiB', 'vol-data-too-large', (file: string) => fs.truncateSync(file, 1024 ** 3)],
    [
      'a folder',
      'vol-data-unreadable',
      (file: string) => {
        fs.rmSync(file);
        fs.mkdirSync(file);
      },
    ],
    [
      'a link to itself',
      'vol-data-unreadable',
      (file: string) => {
        fs.rmSync(file);
        fs.symlinkSync(file, file);
      },
    ],
  ])('%s: never unmounted', async (_, code, damage) => {
    const one = await node();
    const file = path.join(path.dirname(one.target()), 'vol_data.json');
    damage(file);
    const seen = look(one);
    expect(found(seen, code)).toMatchObject({
      severity: 'error',
      path: file,
      kubelet: expect.stringMatching(/no NodeUnpublishVolume is ever sent/),
    });
    // The rest is told all the same; the stage has lost the pod that it was for.
    expect(seen.volumes).toHaveLength(1);
    expect(found(seen, 'staged-no-pod')).toMatchObject({ path: one.stage });
  });

  test('fields: one that is missing, one that nobody knows, a name that is not its folder’s', async () => {
    const one = await node();
    const file = path.join(path.dirname(one.target()), 'vol_data.json');
    const data = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>;
    fs.writeFileSync(
      file,
      JSON.stringify({ ...data, specVolID: 'other\0name', fsType: 'ext4', nodeName: '' }),
    );
    const seen = look(one);
    expect(found(seen, 'vol-data-field-unknown')?.text).toMatch(/found also fsType$/);
    expect(found(seen, 'vol-data-field-missing')).toMatchObject({
      severity: 'note',
      text: expect.stringContaining('nodeName'),
    });
    expect(found(seen, 'wrong-name')).toMatchObject({ severity: 'error' });
    expect(inspectionText(seen)).toContain('found "other\\u0000name"');
    fs.writeFileSync(file, JSON.stringify({ ...data, volumeHandle: undefined }));
    expect(found(look(one), 'vol-data-field-missing')).toMatchObject({ severity: 'error' });
  });
});

describe('mounts', () => {
  test('none, as after a reboot', async () => {
    const one = await node();
    const seen = look({ ...one, mounts: [] });
    expect(wrong(seen)).toEqual(['not-mounted']);
    expect(found(seen, 'not-mounted')?.kubelet).toMatch(/NodeStageVolume and NodePublishVolume/);
  });

  test('a pod that is published, and its stage is not mounted', async () => {
    const one = await node();
    const seen = look({ ...one, mounts: [bind(one.target())] });
    expect(found(seen, 'published-not-staged')).toMatchObject({ severity: 'error', path: one.stage });
  });

  test('stacked; from a dead device; at a place that no kubelet gives; and elsewhere, too', async () => {
    const one = await node();
    const stray = path.join(path.dirname(one.target()), 'old');
    const seen = look(
      { ...one, mounts: [...one.mounts, bind(one.target()), bind(stray), bind('/mnt/other')] },
      { problem: 'the loop device has no backing file any more' },
    );
    expect(found(seen, 'mount-stacked')).toMatchObject({ path: one.target() });
    expect(found(seen, 'mount-dead-device')?.text).toMatch(
      /from \/dev\/loop3: the loop device has no backing file/,
    );
    expect(found(seen, 'mount-unexpected')).toMatchObject({ path: stray });
    expect(found(seen, 'stage-other-references')?.text).toBe(`mounted also at ${stray}, /mnt/other`);
    expect(inspectionText(seen)).toContain('ext4 ×2 /dev/loop3');
  });
});

describe('stages', () => {
  test('that no pod has: nobody unstages them, whether mounted or left over', async () => {
    const one = await node();
    fs.rmSync(path.join(one.root, 'pods', one.pods[0] ?? ''), { recursive: true });
    expect(found(look({ ...one, mounts: [bind(one.stage)] }), 'staged-no-pod')).toMatchObject({
      severity: 'error',
      kubelet: expect.stringContaining('k/k#85476'),
    });
    expect(wrong(look({ ...one, mounts: [] }))).toEqual(['stage-left-over']);
  });

  test('of another name than its handle, or its driver', async () => {
    const one = await node();
    const file = path.join(path.dirname(one.stage), 'vol_data.json');
    fs.writeFileSync(file, '{"driverName":"other.test","volumeHandle":"x"}\n');
    const texts = look(one)
      .findings.filter(({ code }) => code === 'wrong-name')
      .map(({ text }) => text);
    expect(texts).toEqual([
      expect.stringContaining('expected driverName "fake.csi.test", found "other.test"'),
      expect.stringMatching(/^expected a folder [0-9a-f]{64} for the handle "x"/),
    ]);
  });

  test('without vol_data.json: what a driver without staging has with 1.36, and not with 1.32', async () => {
    const one = await node(ONE_POD, '1.36', '-node.STAGE_UNSTAGE_VOLUME');
    const mounts = [bind(one.target())];
    expect(found(look({ ...one, mounts }), 'stage-without-vol-data')).toMatchObject({ severity: 'note' });
    expect(found(look({ ...one, mounts }, { version: '1.32' }), 'stage-without-vol-data')).toMatchObject({
      severity: 'warning',
    });
    const staged = look({ ...one, mounts: [...mounts, bind(one.stage)] });
    expect(found(staged, 'stage-without-vol-data')).toMatchObject({ severity: 'error' });
  });

  test('of a kubelet before 1.24', async () => {
    const one = await node();
    fs.mkdirSync(path.join(one.root, 'plugins/kubernetes.io/csi/pv/pvc-1/globalmount'), { recursive: true });
    expect(wrong(look(one))).toEqual(['stage-of-old-kubelet']);
  });
});

describe('raw block volumes', () => {
  const BLOCK = fs.readFileSync(path.join(__dirname, '../../../examples/block.yaml'), 'utf8');

  async function block() {
    const root = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'inspect-'));
    folders.push(root);
    await play(BLOCK, 'create; wait running', { rootDir: root });
    const devices = path.join(root, 'plugins/kubernetes.io/csi/volumeDevices');
    const [name = ''] = fs.readdirSync(path.join(devices, 'staging'));
    const [uid = ''] = fs.readdirSync(path.join(root, 'pods'));
    const map = path.join(devices, name, 'dev', uid);
    const link = path.join(root, 'pods', uid, 'volumeDevices/kubernetes.io~csi', name);
    const mounts = [bind(map, { fsType: 'devtmpfs', root: '/loop3', device: { major: 0, minor: 6 } })];
    return { root, devices, name, uid, map, link, mounts };
  }

  test('are told with their map, their stage and what a restart brings', async () => {
    const one = await block();
    const seen = look(one);
    expect(wrong(seen)).toEqual([]);
    expect(seen.volumes).toMatchObject([
      {
        mode: 'Block',
        name: one.name,
        podUid: one.uid,
        mount: { fsType: 'devtmpfs' },
        afterRestart: [
          'reconstructed, device and pod map Uncertain',
          expect.stringMatching(/NodeStageVolume and NodePublishVolume again/),
          expect.stringMatching(/NodeUnpublishVolume and NodeUnstageVolume$/),
        ],
      },
    ]);
    expect(seen.staged).toMatchObject([{ mode: 'Block', driver: 'fake.csi.test', pods: [one.uid] }]);
  });

  test('after a reboot nothing is bound', async () => {
    const one = await block();
    expect(wrong(look({ ...one, mounts: [] }))).toEqual(['not-mapped']);
  });

  test('whose vol_data.json is empty are never unmapped', async () => {
    const one = await block();
    fs.truncateSync(path.join(one.devices, one.name, 'data/vol_data.json'));
    expect(found(look(one), 'vol-data-empty')?.kubelet).toMatch(/no NodeUnpublishVolume is ever sent/);
  });

  test('that no pod has a link to are never found', async () => {
    const one = await block();
    fs.rmSync(one.link);
    expect(wrong(look(one)).sort()).toEqual(['device-no-pod', 'map-no-pod']);
    fs.rmSync(path.join(one.devices, one.name), { recursive: true });
    expect(wrong(look({ ...one, mounts: [] }))).toEqual(['stage-left-over']);
  });

  test('with a file in place of the link are told, and left', async () => {
    const one = await block();
    fs.rmSync(one.link);
    fs.writeFileSync(one.link, '');
    expect(found(look(one), 'unexpected-file')).toMatchObject({ path: one.link });
  });
});

test('bound subPaths are counted, and are no other references of a stage', async () => {
  const one = await node();
  const subPath = path.join(one.root, 'pods', one.pods[0] ?? '', 'volume-subpaths', one.volume, 'main/0');
  const seen = look({ ...one, mounts: [...one.mounts, bind(subPath)] });
  expect(seen.volumes[0]?.subPaths).toEqual([subPath]);
  expect(wrong(seen)).toEqual([]);
});

test('two pods with one volume are two mounts of one stage', async () => {
  const two = await node(ONE_POD + pod('second'));
  const seen = look(two);
  expect(wrong(seen)).toEqual([]);
  expect(seen.staged[0]?.pods).toEqual(two.pods);
});

test('two PersistentVolumes with one handle are told', async () => {
  const two = await node(ONE_POD + pod('second'));
  const folder = path.dirname(two.target(1));
  const data = JSON.parse(fs.readFileSync(path.join(folder, 'vol_data.json'), 'utf8')) as object;
  fs.writeFileSync(path.join(folder, 'vol_data.json'), JSON.stringify({ ...data, specVolID: 'twin' }));
  fs.renameSync(folder, path.join(path.dirname(folder), 'twin'));
  const mounts = [bind(two.stage), bind(two.target()), bind(path.join(path.dirname(folder), 'twin/mount'))];
  expect(found(look({ ...two, mounts }), 'handle-twice')?.text).toContain('twin');
});

test('a folder without anything of a kubelet is an empty one', () => {
  const root = fs.mkdtempSync(path.join(tmpdir(), 'inspect-'));
  folders.push(root);
  expect(look({ root, mounts: [] })).toMatchObject({ pods: [], volumes: [], staged: [], findings: [] });
});
