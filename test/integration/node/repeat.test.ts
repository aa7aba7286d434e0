import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, readMark, writeMark } from '../../support/kinds';
import {
  blockCapability,
  createVolume,
  dispose,
  mountCapability,
  publish,
  release,
  stage,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe.each(ALL_KINDS)('a $name volume, when calls are repeated', (kind) => {
  it('is staged and published once, however often that is asked for', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'first');
    const table = await machine.table();
    for (let round = 0; round < 4; round++) {
      await driver.csi.NodeStageVolume({
        volume_id: used.id,
        publish_context: used.publishContext,
        staging_target_path: used.staging,
        volume_capability: used.capability,
      });
      await publish(driver, used);
    }
    expect(await machine.table()).toBe(table);
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    expect(await readMark(kind, used)).toBe('first');
    await dispose(driver, used);
  });

  it('is unpublished and unstaged once, and every further time that is OK', async () => {
    const used = await use(driver, kind.options());
    for (let round = 0; round < 3; round++)
      await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
    for (let round = 0; round < 3; round++)
      await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    expect(await fs.readdir(used.staging)).toEqual([]);
    await release(driver, used);
    expect(machine.loops()).toEqual([]);
  });

  it('keeps its data through a whole second use', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'kept');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    const again = await stage(driver, used.id, { capability: used.capability });
    await publish(driver, again);
    expect(await readMark(kind, again)).toBe('kept');
    await dispose(driver, again);
  });

  it('is published again after somebody unmounted its target', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'still there');
    machine.run('umount', used.target);
    await publish(driver, used);
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    expect(await readMark(kind, used)).toBe('still there');
    await dispose(driver, used);
  });

  it('is unpublished and unstaged after somebody unmounted everything', async () => {
    const used = await use(driver, kind.options());
    machine.run('umount', used.target);
    if (!kind.block) machine.run('umount', used.staging);
    await dispose(driver, used);
    expect(machine.loops()).toEqual([]);
  });

  it('is refused with another capability at the same path, and stays as it was', async () => {
    const used = await use(driver, kind.options());
    const table = await machine.table();
    const other = kind.block
      ? blockCapability('SINGLE_NODE_READER_ONLY')
      : mountCapability({
          fsType: kind.options().capability?.mount?.fs_type ?? '',
          mode: 'SINGLE_NODE_READER_ONLY',
        });
    await expect(
      driver.csi.NodeStageVolume({
        volume_id: used.id,
        publish_context: used.publishContext,
        staging_target_path: used.staging,
        volume_capability: other,
      }),
    ).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await expect(publish(driver, { ...used, capability: other })).rejects.toMatchObject({
      code: Code.ALREADY_EXISTS,
    });
    await expect(publish(driver, used, true)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    expect(await machine.table()).toBe(table);
    await dispose(driver, used);
  });

  it('allows as many targets as its access mode does', async () => {
    const many = await use(driver, kind.options('SINGLE_NODE_MULTI_WRITER'));
    const second = { ...many, target: await driver.target(`${many.id}-second`) };
    await publish(driver, second);
    await writeMark(kind, many, 'seen in both');
    expect(await readMark(kind, second)).toBe('seen in both');
    await driver.csi.NodeUnpublishVolume({ volume_id: many.id, target_path: second.target });
    expect(await readMark(kind, many)).toBe('seen in both');
    await dispose(driver, many);

    const one = await use(driver, kind.options('SINGLE_NODE_SINGLE_WRITER'));
    const refused = { ...one, target: await driver.target(`${one.id}-second`) };
    await expect(publish(driver, refused)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await expect(fs.lstat(refused.target)).rejects.toThrow('ENOENT');
    await dispose(driver, one);
  });

  it('cannot be published without being staged', async () => {
    const id = await createVolume(driver, kind.options());
    const { node_id } = await driver.csi.NodeGetInfo();
    const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: kind.options().capability ?? null,
    });
    const used = {
      id,
      staging: await driver.folder(`${id}-staging`),
      target: await driver.target(id),
      publishContext,
      capability: kind.options().capability ?? {},
    };
    await expect(publish(driver, used)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('not staged'),
    });
    await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
    await release(driver, used);
  });

  it('cannot be published once its staging path was unmounted, until it is staged again', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    await expect(publish(driver, used)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await release(driver, used);
  });
});

describe.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])(
  'a $name volume whose staging path was unmounted',
  (kind) => {
    it('is staged again on the superblock its target still has', async () => {
      const used = await use(driver, kind.options('SINGLE_NODE_MULTI_WRITER'));
      await writeMark(kind, used, 'before');
      machine.run('umount', used.staging);
      await driver.csi.NodeStageVolume({
        volume_id: used.id,
        publish_context: used.publishContext,
        staging_target_path: used.staging,
        volume_capability: used.capability,
      });
      // Two superblocks over one disk would each write over what the other one wrote.
      expect(machine.loops(driver.dataDir)).toHaveLength(1);
      await fs.writeFile(path.join(used.target, 'through-target'), 'x');
      expect(await fs.readFile(path.join(used.staging, 'through-target'), 'utf8')).toBe('x');
      await dispose(driver, used);
      expect(machine.loops()).toEqual([]);
    });
  },
);
