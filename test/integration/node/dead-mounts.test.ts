import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { mountDead } from '../../support/dead-fuse';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, readMark, writeMark } from '../../support/kinds';
import { dispose, publish, stage, type UsedVolume, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const { mounts } = machine.host;
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const mountKinds = ALL_KINDS.filter((kind) => !kind.block);

function restage(used: UsedVolume) {
  return driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });
}

describe.each(mountKinds)('a $name volume under a filesystem whose server died', (kind) => {
  it('is found again by a repeated publish, and mounted no second time', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'below');
    const table = await machine.table();
    await mountDead(mounts, used.target);
    await mountDead(mounts, used.target);
    await publish(driver, used);
    expect(await machine.table()).toBe(table);
    expect(await readMark(kind, used)).toBe('below');
    await dispose(driver, used);
  });

  it('is found again by a repeated stage, by a publish and by an expansion', async () => {
    const used = await use(driver, kind.options('SINGLE_NODE_MULTI_WRITER'));
    const table = await machine.table();
    await mountDead(mounts, used.staging);
    await restage(used);
    expect(await machine.table()).toBe(table);
    await mountDead(mounts, used.staging);
    await publish(driver, used);
    expect(await machine.table()).toBe(table);
    await mountDead(mounts, used.staging);
    await driver.csi.NodeExpandVolume({ volume_id: used.id, volume_path: used.target });
    expect(await machine.table()).toBe(table);
    await dispose(driver, used);
  });

  it('is unpublished and unstaged', async () => {
    const used = await use(driver, kind.options());
    await mountDead(mounts, used.target);
    await mountDead(mounts, used.target);
    await mountDead(mounts, used.staging);
    await dispose(driver, used);
    expect(machine.loops()).toEqual([]);
    expect(await fs.readdir(used.staging)).toEqual([]);
  });

  it('is published where somebody left a dead mount before, and staged there', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'kept');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    await mountDead(mounts, used.staging);
    await fs.mkdir(used.target);
    await mountDead(mounts, used.target);
    await restage(used);
    await publish(driver, used);
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    expect(await machine.mountsAt(used.staging)).toHaveLength(1);
    expect(await readMark(kind, used)).toBe('kept');
    await dispose(driver, used);
  });
});

it('a dead mount at the target of an unknown volume is cleaned up', async () => {
  const target = machine.folder('pod');
  await mountDead(mounts, target);
  await driver.csi.NodeUnpublishVolume({ volume_id: 'never-seen', target_path: target });
  expect(await machine.mountsAt(target)).toEqual([]);
  await expect(fs.lstat(target)).rejects.toThrow('ENOENT');
  const staging = machine.folder('staging');
  await mountDead(mounts, staging);
  await driver.csi.NodeUnstageVolume({ volume_id: 'never-seen', staging_target_path: staging });
  expect(await machine.mountsAt(staging)).toEqual([]);
});

describe('a volume whose own filesystem shut down', () => {
  /** XFS_IOC_GOINGDOWN without flushing the log: everything answers EIO from now on. */
  const shutDown = (used: UsedVolume) => execFileSync('xfs_io', ['-x', '-c', 'shutdown', used.staging]);

  it('is told to be dead, and is neither taken from its pod nor published once more', async () => {
    const kind = KINDS.xfs;
    const used = await use(driver, kind.options('SINGLE_NODE_MULTI_WRITER'));
    await writeMark(kind, used, 'synced');
    shutDown(used);
    const table = await machine.table();
    const second = { ...used, target: await driver.target(`${used.id}-second`) };
    await expect(publish(driver, second)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringMatching(/is dead .*EIO.*unstage and stage it again/),
    });
    await expect(publish(driver, used)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await expect(fs.lstat(second.target)).rejects.toThrow('ENOENT');
    expect(await machine.table()).toBe(table);
    const stats = await driver.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
    expect(stats.volume_condition).toMatchObject({ abnormal: true });

    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    expect(machine.loops(driver.dataDir)).toEqual([]);
    await restage(used);
    await publish(driver, used);
    expect(await readMark(kind, used)).toBe('synced');
    await dispose(driver, used);
  });

  it('is not staged a second time beside its dead superblock', async () => {
    const used = await use(driver, KINDS.xfs.options());
    await writeMark(KINDS.xfs, used, 'synced');
    shutDown(used);
    // The target still holds the superblock, so the kernel can only give the dead one again.
    await expect(restage(used)).rejects.toMatchObject({ message: expect.stringContaining('EIO') });
    expect(machine.loops(driver.dataDir)).toHaveLength(1);
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await restage(used);
    await publish(driver, used);
    expect(await readMark(KINDS.xfs, used)).toBe('synced');
    await dispose(driver, used);
  });

  it('that went read-only is not published as if nothing had happened', async () => {
    const used = await stage(driver, await driverVolume(), KINDS.ext4.options('SINGLE_NODE_MULTI_WRITER'));
    const device = path.basename((await machine.mountsAt(used.staging))[0]?.source ?? '');
    machine.run('mount', '-o', 'remount,ro', used.staging);
    await expect(publish(driver, used)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('read-only now'),
    });
    expect(device).toMatch(/^loop/);
    machine.run('mount', '-o', 'remount,rw', used.staging);
    await publish(driver, used);
    await dispose(driver, used);
  });

  const driverVolume = async () => {
    const used = await use(driver, KINDS.ext4.options('SINGLE_NODE_MULTI_WRITER'));
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    return used.id;
  };
});
