import * as fs from 'node:fs/promises';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  MIB,
  publish,
  release,
  stage,
  type UsedVolume,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const sized = ALL_KINDS.filter((kind) => kind.name !== 'directory');

/** A btrfs cannot be resized to less than 256 MiB. */
const larger = (kind: Kind) => (kind.name === 'btrfs' ? 320 : kind.name === 'xfs' ? 400 : 96) * MIB;
/** Filesystems keep some for themselves. */
const least = (kind: Kind) => (kind.loop && !kind.block ? 0.8 : 1) * larger(kind);

const growController = (driver: TestDriver, id: string, kind: Kind) =>
  driver.csi.ControllerExpandVolume({
    volume_id: id,
    capacity_range: { required_bytes: `${larger(kind)}` },
  });
const growNode = (driver: TestDriver, id: string, at: string) =>
  driver.csi.NodeExpandVolume({ volume_id: id, volume_path: at });
async function totalAt(driver: TestDriver, id: string, at: string): Promise<number> {
  const { usage } = await driver.csi.NodeGetVolumeStats({ volume_id: id, volume_path: at });
  return Number(usage[0]?.total);
}

/** A raw device is nowhere below its staging path. */
async function sizeOnDisk(kind: Kind, driver: TestDriver, used: UsedVolume): Promise<number> {
  if (!kind.block) return totalAt(driver, used.id, used.staging);
  const [loop] = machine.loops(driver.dataDir);
  return Number(await fs.readFile(`/sys/block/loop${loop?.index}/size`, 'utf8')) * 512;
}

describe.each(sized)('BL-086, BL-088: a staged $name volume that no pod has', (kind) => {
  it('grows at its staging path, and where it is not mounted it is NOT_FOUND', async () => {
    const driver = await machine.start();
    const id = await createVolume(driver, kind.options());
    const nowhere = await driver.folder('nowhere');
    await growController(driver, id, kind);
    await expect(growNode(driver, id, nowhere)).rejects.toMatchObject({
      code: Code.NOT_FOUND,
      message: expect.stringContaining(nowhere),
    });
    await driver.csi.DeleteVolume({ volume_id: id });

    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    await growController(driver, used.id, kind);
    await expect(growNode(driver, used.id, nowhere)).rejects.toMatchObject({ code: Code.NOT_FOUND });
    expect(await growNode(driver, used.id, used.staging)).toEqual({ capacity_bytes: `${larger(kind)}` });
    expect(await sizeOnDisk(kind, driver, used)).toBeGreaterThanOrEqual(least(kind));
    await publish(driver, used);
    await writeMark(kind, used, 'usable');
    expect(await totalAt(driver, used.id, used.target)).toBeGreaterThanOrEqual(least(kind));
    expect(await readMark(kind, used)).toBe('usable');
    await dispose(driver, used);
    await driver.stop();
  });
});

describe.each(sized)('BL-089: a published $name volume, after the driver restarted', (kind) => {
  it('has its stats, and grows', async () => {
    const first = await machine.start();
    const used = await use(first, kind.options());
    await writeMark(kind, used, 'kept');
    const before = await totalAt(first, used.id, used.target);
    await first.stop();

    const driver = await machine.start({ dataDir: first.dataDir });
    expect(await totalAt(driver, used.id, used.target)).toBe(before);
    await growController(driver, used.id, kind);
    const grown = await growNode(driver, used.id, used.target).catch((error) => error);
    const mayGrow = kind.name !== 'ext4' || (await machine.host.abilities()).growMountedExt4 === true;
    if (mayGrow) {
      expect(grown).toEqual({ capacity_bytes: `${larger(kind)}` });
      expect(await totalAt(driver, used.id, used.target)).toBeGreaterThanOrEqual(least(kind));
    } else expect(grown).toMatchObject({ message: expect.stringContaining('CAP_SYS_RESOURCE') });
    expect(await readMark(kind, used)).toBe('kept');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await release(driver, used);
    await driver.stop();
  });
});
