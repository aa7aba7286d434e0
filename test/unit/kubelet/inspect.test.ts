import * as fs from 'node:fs';
import * as path from 'node:path';
import { inspectionText } from '../../../src/kubelet/inspect/text';
import { ONE_POD, play, pod } from './harness';
import { bind, emptyFolder, found, look, node, wrong } from './inspected-node';

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
  const root = emptyFolder();
  expect(look({ root, mounts: [] })).toMatchObject({ pods: [], volumes: [], staged: [], findings: [] });
});
