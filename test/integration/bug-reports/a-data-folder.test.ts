import * as fs from 'node:fs/promises';
import { Code } from '../../../src/csi/status';
import { KINDS } from '../../support/kinds';
import { createVolume, dispose, publish, stage, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

describe.each([KINDS.directory, KINDS.ext4])(
  'BL-034: $name volumes whose data folder was removed',
  (kind) => {
    it('are refused with the path that is missing, and the next start makes the folder anew', async () => {
      const driver = await machine.start();
      const staged = await stage(driver, await createVolume(driver, kind.options()), kind.options());
      await driver.csi.NodeUnstageVolume({ volume_id: staged.id, staging_target_path: staged.staging });
      await fs.rm(driver.dataDir, { recursive: true });

      await expect(createVolume(driver, kind.options())).rejects.toMatchObject({
        code: Code.INTERNAL,
        message: expect.stringMatching(new RegExp(`ENOENT.*${driver.dataDir}/`)),
      });
      await expect(stage(driver, staged.id, kind.options())).rejects.toMatchObject({
        code: Code.DATA_LOSS,
        message: expect.stringMatching(
          new RegExp(`${driver.dataDir}/.* is gone; restore it, or delete the volume`),
        ),
      });
      await expect(publish(driver, staged)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
      await expect(fs.lstat(staged.target)).rejects.toThrow('ENOENT');
      await expect(driver.csi.Probe()).rejects.toMatchObject({
        code: Code.FAILED_PRECONDITION,
        message: expect.stringContaining(
          `${driver.dataDir} cannot be written (ENOENT); bring it back, or restart`,
        ),
      });
      await driver.stop();

      const next = await machine.start({ dataDir: driver.dataDir });
      await next.csi.Probe();
      await dispose(next, await use(next, kind.options()));
      await next.stop();
    });
  },
);
