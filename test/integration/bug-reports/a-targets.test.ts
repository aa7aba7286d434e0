import * as fs from 'node:fs/promises';
import { ALL_KINDS } from '../../support/kinds';
import { release, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

it.each(ALL_KINDS)(
  'BL-015, BL-016, BL-017: the target of a $name volume that somebody unmounted is removed by the unpublish',
  async (kind) => {
    const driver = await machine.start();
    const used = await use(driver, kind.options());
    machine.run('umount', used.target);
    expect((await fs.lstat(used.target)).isDirectory()).toBe(!kind.block);
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
    await release(driver, used);
    await driver.stop();
  },
);
