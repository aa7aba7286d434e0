import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  publish,
  release,
  stage,
  type UsedVolume,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const unpublish = (id: string, target: string) =>
  driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: target });
const unstage = (id: string, staging: string) =>
  driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
const restage = (used: UsedVolume, staging: string) =>
  driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: staging,
    volume_capability: used.capability,
  });

describe.each(ALL_KINDS)('a $name volume and a path in another spelling', (kind) => {
  it('is found where it is, and mounted once', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'mark');
    const table = await machine.table();
    for (const target of [`${used.target}/`, used.target.replace('/pods/', '//pods/./')])
      await publish(driver, { ...used, target });
    await publish(driver, { ...used, staging: `${used.staging}/` });
    await restage(used, `${used.staging}//`);
    expect(await machine.table()).toBe(table);
    await driver.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: `${used.target}/` });
    await driver.csi.NodeExpandVolume({ volume_id: used.id, volume_path: `${used.staging}/.` });
    await dispose(driver, used);
  });

  it('is taken down by it, and nothing of it is remembered', async () => {
    const used = await use(driver, kind.options());
    await unpublish(used.id, `${used.target}//`);
    await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
    const second = { ...used, target: await driver.target(`${used.id}-second`) };
    await publish(driver, second);
    await unpublish(used.id, second.target);
    await unstage(used.id, `${used.staging}/`);
    expect(await machine.mountsAt(used.staging)).toEqual([]);
    await release(driver, used);
  });

  it('is not published through a link because of a slash at its end', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const elsewhere = machine.folder('elsewhere');
    await fs.symlink(elsewhere, used.target);
    const target = `${used.target}/`;
    await expect(publish(driver, { ...used, target })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    await expect(unpublish(used.id, target)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect((await fs.lstat(elsewhere)).isDirectory()).toBe(true);
    await fs.unlink(used.target);
    await release(driver, used);
  });
});

describe.each(ALL_KINDS)('a $name volume whose staging path and target are mixed up', (kind) => {
  it('is not published at its staging path, or below it', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const table = await machine.table();
    for (const target of [used.staging, path.join(used.staging, 'below')])
      await expect(publish(driver, { ...used, target })).rejects.toMatchObject({
        code: Code.INVALID_ARGUMENT,
      });
    expect(await machine.table()).toBe(table);
    expect((await fs.readdir(used.staging)).filter((name) => name === 'below')).toEqual([]);
    await release(driver, used);
  });

  it('stays staged when its staging path is to be unpublished', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const table = await machine.table();
    await expect(unpublish(used.id, used.staging)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('NodeUnstageVolume'),
    });
    await expect(unpublish('another-volume', used.staging)).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
    });
    expect(await machine.table()).toBe(table);
    expect((await fs.lstat(used.staging)).isDirectory()).toBe(true);
    await release(driver, used);
  });

  it('stays published when it is to be unstaged from its target', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'in use');
    await unstage(used.id, used.target);
    expect(await readMark(kind, used)).toBe('in use');
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    await dispose(driver, used);
  });
});

describe.each(ALL_KINDS)('a $name volume whose paths lead through a link', (kind) => {
  it('is told by its mounts, not by their names, when staging path and target are mixed up', async () => {
    const real = machine.folder('kubelet');
    const link = path.join(machine.folder('links'), 'kubelet');
    await fs.symlink(real, link);
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    await unstage(used.id, used.staging);
    const linked = { ...used, staging: path.join(link, 'staging'), target: path.join(link, 'target') };
    await fs.mkdir(linked.staging);
    await restage(linked, linked.staging);
    await publish(driver, linked);
    const table = await machine.table();
    if (!kind.block)
      await expect(unpublish(used.id, path.join(real, 'staging'))).rejects.toMatchObject({
        code: Code.FAILED_PRECONDITION,
      });
    await unstage(used.id, path.join(real, 'target'));
    expect(await machine.table()).toBe(table);
    await dispose(driver, linked);
  });
});

describe.each(ALL_KINDS)("a $name volume and the driver's own data", (kind) => {
  it('is neither staged nor published in it or above it, and removes nothing there', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const empty = path.join(driver.dataDir, 'snapshots');
    expect(await fs.readdir(empty)).toEqual([]);
    const table = await machine.table();
    const refused = { code: Code.INVALID_ARGUMENT, message: expect.stringContaining(driver.dataDir) };
    for (const place of [driver.dataDir, empty, path.join(driver.dataDir, 'volumes', 'new'), driver.dir]) {
      await expect(publish(driver, { ...used, target: place })).rejects.toMatchObject(refused);
      await expect(restage(used, place)).rejects.toMatchObject(refused);
      await expect(unpublish(used.id, place)).rejects.toMatchObject(refused);
      await expect(unstage(used.id, place)).rejects.toMatchObject(refused);
    }
    expect(await machine.table()).toBe(table);
    expect(await fs.readdir(empty)).toEqual([]);
    await release(driver, used);
  });
});
