import * as fs from 'node:fs';
import * as path from 'node:path';
import { play } from './harness';
import { bind, emptyFolder, found, look, wrong } from './inspected-node';

describe('raw block volumes', () => {
  const BLOCK = fs.readFileSync(path.join(__dirname, '../../../examples/block.yaml'), 'utf8');

  async function block() {
    const root = emptyFolder();
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
