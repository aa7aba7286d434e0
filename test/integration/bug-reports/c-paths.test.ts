import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { KINDS } from '../../support/kinds';
import { createVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const capability = KINDS.directory.options().capability ?? null;
const EPHEMERAL = { 'csi.storage.k8s.io/ephemeral': 'true', size: '1Mi' };

const HOSTILE = ['../victim', '../../victim', '../../../victim', './../../victim/.', '', '.', '..'];

describe.each(['directory', 'tmpfs', 'loop'] as const)('ids that are paths, for volumes of %s', (backend) => {
  it.each(HOSTILE.map((id) => (id === '' ? '<absolute>' : id)))(
    'BL-099: %j as an id reaches nothing outside the data folder',
    async (word) => {
      // From wherever an id might be joined: the data folder, its volumes, its snapshots.
      const folder = machine.folder('around');
      const dataDir = path.join(folder, 'data');
      const victims = [path.join(folder, 'victim'), path.join(dataDir, 'victim')];
      const driver = await machine.start({ dataDir, backend });
      for (const victim of victims) {
        await fs.mkdir(victim);
        await fs.writeFile(path.join(victim, 'precious'), 'kept');
      }
      const before = (await fs.readdir(folder)).sort();
      const ids = word === '<absolute>' ? victims : [word];
      for (const id of ids) {
        const target = await driver.target('inline');
        await driver.csi.NodePublishVolume({
          volume_id: id,
          target_path: target,
          volume_capability: capability,
          volume_context: { ...EPHEMERAL, ...(backend === 'loop' && { size: '64Mi' }) },
        });
        expect((await fs.readdir(target)).filter((name) => name !== 'lost+found')).toEqual([]);
        await driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: target });
        await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: await driver.folder('s') });
        await driver.csi.ControllerUnpublishVolume({ volume_id: id });
        await driver.csi.DeleteVolume({ volume_id: id });
        await driver.csi.DeleteSnapshot({ snapshot_id: id });
        await driver.csi.DeleteVolumeGroupSnapshot({ group_snapshot_id: id, snapshot_ids: [] });
        const named = await createVolume(driver, { ...KINDS.directory.options(), name: id });
        await driver.csi.DeleteVolume({ volume_id: named });
      }
      expect((await fs.readdir(folder)).sort()).toEqual(before);
      for (const victim of victims)
        expect(await fs.readFile(path.join(victim, 'precious'), 'utf8')).toBe('kept');
      expect(await fs.readdir(path.join(dataDir, 'volumes'))).toEqual([]);
      await driver.stop();
    },
  );
});

const OUT = ['../../victim', '/etc', 'a/../../b'];
const refused = { code: Code.INVALID_ARGUMENT };

it.each(['subDir', 'path', 'subPath', 'share', 'backend', 'scenario', 'groupable', 'readAheadKiB'])(
  'BL-100: %s with a path that leads out',
  async (key) => {
    const driver = await machine.start();
    for (const value of OUT) {
      await expect(
        createVolume(driver, { ...KINDS.ext4.options(), parameters: { [key]: value } }),
      ).rejects.toMatchObject(refused);
      await expect(
        createVolume(driver, { ...KINDS.ext4.options(), mutableParameters: { [key]: value } }),
      ).rejects.toMatchObject(refused);
    }
    expect(await fs.readdir(path.join(driver.dataDir, 'volumes'))).toEqual([]);
    await driver.stop();
  },
);

it.each(['size', 'backend', 'scenario'])(
  'BL-100: %s of a static or an inline volume with a path that leads out',
  async (key) => {
    const driver = await machine.start();
    const staging_target_path = await driver.folder('staging');
    const target_path = await driver.target('inline');
    for (const value of OUT) {
      const context = { ...EPHEMERAL, [key]: value };
      const { 'csi.storage.k8s.io/ephemeral': _, ...attributes } = context;
      await expect(
        driver.csi.NodeStageVolume({
          volume_id: 'static',
          staging_target_path,
          volume_capability: capability,
          volume_context: attributes,
        }),
      ).rejects.toMatchObject(refused);
      await expect(
        driver.csi.NodePublishVolume({
          volume_id: 'inline',
          target_path,
          volume_capability: capability,
          volume_context: context,
        }),
      ).rejects.toMatchObject(refused);
    }
    expect(await fs.readdir(path.join(driver.dataDir, 'volumes'))).toEqual([]);
    await driver.stop();
  },
);

it('BL-100: what a CO adds to volume_context is not taken for a path', async () => {
  const driver = await machine.start();
  const victim = path.join(machine.folder('outside'), 'precious');
  await fs.writeFile(victim, 'kept');
  const volume_context = {
    size: '16Mi',
    backend: 'directory',
    subDir: `../../../../..${path.dirname(victim)}`,
  };
  const staging = await driver.folder('staging');
  await driver.csi.NodeStageVolume({
    volume_id: 'static',
    staging_target_path: staging,
    volume_capability: capability,
    volume_context,
  });
  expect(await fs.readdir(staging)).toEqual([]);
  await driver.csi.NodeUnstageVolume({ volume_id: 'static', staging_target_path: staging });
  await driver.csi.DeleteVolume({ volume_id: 'static' });
  expect(await fs.readFile(victim, 'utf8')).toBe('kept');
  await driver.stop();
});
