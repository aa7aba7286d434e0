import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, release, stage, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe.each(ALL_KINDS)('a $name volume that is not where its records say', (kind) => {
  it('is published at another target when somebody unmounted the first', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'kept');
    machine.run('umount', used.target);
    const second = { ...used, target: await driver.target(`${used.id}-second`) };
    await publish(driver, second);
    expect(await readMark(kind, second)).toBe('kept');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: second.target });
    await dispose(driver, used);
    await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
  });

  it('is published at another target when it was unpublished by another name of the first', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const real = machine.folder('real');
    const link = path.join(machine.folder('links'), 'link');
    await fs.symlink(real, link);
    await publish(driver, { ...used, target: path.join(link, 'target') });
    const byRealName = path.join(real, 'target');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: byRealName });
    await expect(fs.lstat(byRealName)).rejects.toThrow('ENOENT');
    await publish(driver, used);
    await dispose(driver, used);
  });

  it('is still refused at another target while the first is mounted', async () => {
    const used = await use(driver, kind.options());
    const second = { ...used, target: await driver.target(`${used.id}-second`) };
    await expect(publish(driver, second)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await dispose(driver, used);
  });

  it('is unpublished and unstaged where the folders above are links that go round', async () => {
    const loop = path.join(machine.folder('loop'), 'loop');
    await fs.symlink('loop', loop);
    const at = path.join(loop, 'target');
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    await expect(publish(driver, { ...used, target: at })).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
    });
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: at });
    await driver.csi.NodeUnstageVolume({ volume_id: 'unknown', staging_target_path: at });
    await release(driver, used);
  });
});

describe.each(ALL_KINDS.filter(({ block }) => !block))(
  'a $name volume whose stage somebody unmounted',
  (kind) => {
    it('is staged at another path, with its data', async () => {
      const used = await use(driver, kind.options());
      await writeMark(kind, used, 'kept');
      await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
      machine.run('umount', used.staging);
      const moved = { ...used, staging: machine.folder('moved') };
      await driver.csi.NodeStageVolume({
        volume_id: used.id,
        publish_context: used.publishContext,
        staging_target_path: moved.staging,
        volume_capability: used.capability,
      });
      await publish(driver, moved);
      expect(await readMark(kind, moved)).toBe('kept');
      await dispose(driver, moved);
      expect(machine.loops()).toEqual([]);
    });
  },
);
