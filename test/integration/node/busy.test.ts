import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, readMark, writeMark } from '../../support/kinds';
import { dispose, publish, release, type UsedVolume, use } from '../../support/lifecycle';
import { hurriedClock, useMachine } from '../../support/machine';
import { OtherNamespace } from '../../support/other-namespace';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start({ clock: hurriedClock });
});

function restage(target: TestDriver, used: UsedVolume) {
  return target.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });
}

const unpublish = (used: UsedVolume) =>
  driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
const unstage = (used: UsedVolume, of = driver) =>
  of.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });

describe.each(ALL_KINDS.filter((kind) => !kind.block))('a $name volume with an open file', (kind) => {
  it('is not unpublished while a pod uses it, and is when that ends', async () => {
    const used = await use(driver, kind.options());
    const file = await fs.open(path.join(used.target, 'open'), 'w');
    const table = await machine.table();
    await expect(unpublish(used)).rejects.toMatchObject({ message: expect.stringContaining('in use') });
    expect(await machine.table()).toBe(table);
    await publish(driver, used);
    await file.close();
    await dispose(driver, used);
  });

  it('is not unstaged while it is published', async () => {
    const used = await use(driver, kind.options());
    const table = await machine.table();
    await expect(unstage(used)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining(used.target),
    });
    expect(await machine.table()).toBe(table);
    await dispose(driver, used);
  });
});

describe.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])('a $name volume that a pod outlived', (kind) => {
  it('is not unstaged while its disk is held, and is staged anew on the same superblock', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'one superblock');
    const pod = await OtherNamespace.start();
    try {
      await unpublish(used);
      await expect(unstage(used)).rejects.toMatchObject({
        code: Code.FAILED_PRECONDITION,
        message: expect.stringMatching(
          new RegExp(`still in use: it is mounted at ${used.staging} where process \\d+ \\(`),
        ),
      });
      expect(await machine.mountsAt(used.staging)).toEqual([]);
      await restage(driver, used);
      expect(machine.loops(driver.dataDir)).toHaveLength(1);
      await publish(driver, used);
      expect(await readMark(kind, used)).toBe('one superblock');
      await unpublish(used);
      await expect(unstage(used)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    } finally {
      await pod.end();
    }
    await unstage(used);
    expect(machine.loops(driver.dataDir)).toEqual([]);
    await release(driver, used);
  });

  it('is still staged on the same superblock after the driver restarted', async () => {
    const first = await machine.start({ clock: hurriedClock });
    const used = await use(first, kind.options());
    await writeMark(kind, used, 'one superblock');
    const pod = await OtherNamespace.start();
    let second: TestDriver | undefined;
    try {
      await first.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
      await expect(unstage(used, first)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
      await first.stop();
      second = await machine.start({ dataDir: first.dataDir, clock: hurriedClock });
      await restage(second, used);
      expect(machine.loops(first.dataDir)).toHaveLength(1);
      await publish(second, used);
      expect(await readMark(kind, used)).toBe('one superblock');
    } finally {
      await pod.end();
    }
    if (second) await dispose(second, used);
  });
});

it('a raw device that a pod holds open is not unstaged, and is when that ends', async () => {
  const used = await use(driver, KINDS.block.options());
  const device = await fs.open(used.target, 'r+');
  await expect(unpublish(used)).rejects.toMatchObject({ message: expect.stringContaining('in use') });
  const inNode = await fs.open(`/dev/loop${machine.loops(driver.dataDir)[0]?.index}`, 'r');
  await device.close();
  await unpublish(used);
  await expect(unstage(used)).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
    message: expect.stringMatching(new RegExp(`still in use: process ${process.pid} \\(.+\\) has it open`)),
  });
  await inNode.close();
  await release(driver, used);
  expect(machine.loops(driver.dataDir)).toEqual([]);
});
