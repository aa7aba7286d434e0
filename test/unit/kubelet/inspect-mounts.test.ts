import * as fs from 'node:fs';
import * as path from 'node:path';
import { inspectionText } from '../../../src/kubelet/inspect/text';
import { ONE_POD } from './harness';
import { bind, found, look, node, wrong } from './inspected-node';

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
