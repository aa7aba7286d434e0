import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS } from '../../support/kinds';
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

function restage(used: UsedVolume) {
  return driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });
}

/** A filesystem of somebody else at a path, as a folder or as a file. */
async function foreign(at: string, block: boolean): Promise<void> {
  if (block) {
    await fs.writeFile(at, '');
    const other = path.join(machine.folder('other'), 'file');
    await fs.writeFile(other, 'theirs');
    machine.run('mount', '--bind', other, at);
    return;
  }
  await fs.mkdir(at, { recursive: true });
  machine.run('mount', '-t', 'tmpfs', 'theirs', at);
  await fs.writeFile(path.join(at, 'theirs'), 'x');
}

describe.each(ALL_KINDS)('a $name volume and what is not its own', (kind) => {
  it('is not published over a foreign mount, and does not remove one', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    await foreign(used.target, kind.block);
    const table = await machine.table();
    await expect(publish(driver, used)).rejects.toMatchObject({
      code: Code.ALREADY_EXISTS,
      message: expect.stringContaining(used.target),
    });
    await expect(
      driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target }),
    ).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('unmount it'),
    });
    expect(await machine.table()).toBe(table);
    machine.run('umount', used.target);
    await publish(driver, used);
    await dispose(driver, used);
  });

  it('keeps its own mount under a foreign one, and neither is touched until that is gone', async () => {
    const used = await use(driver, kind.options());
    if (kind.block) machine.run('mount', '--bind', '/dev/null', used.target);
    else machine.run('mount', '-t', 'tmpfs', 'theirs', used.target);
    const table = await machine.table();
    await expect(publish(driver, used)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await expect(
      driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    expect(await machine.table()).toBe(table);
    machine.run('umount', used.target);
    await dispose(driver, used);
  });

  it('does not follow a symbolic link at its target', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const elsewhere = machine.folder('elsewhere');
    const file = path.join(elsewhere, 'file');
    await fs.writeFile(file, '');
    await fs.symlink(kind.block ? file : elsewhere, used.target);
    const table = await machine.table();
    await expect(publish(driver, used)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    await expect(
      driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target }),
    ).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect(await machine.table()).toBe(table);
    expect((await fs.lstat(used.target)).isSymbolicLink()).toBe(true);
    expect(await fs.readdir(elsewhere)).toEqual(['file']);
    await fs.unlink(used.target);
    await release(driver, used);
  });

  it('is published and unpublished where a symbolic link leads to the parent of its target', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    const real = machine.folder('kubelet');
    const link = `${real}-link`;
    await fs.symlink(real, link);
    const linked = { ...used, target: path.join(link, 'target') };
    await publish(driver, linked);
    await publish(driver, linked);
    expect(await machine.mountsAt(path.join(real, 'target'))).toHaveLength(1);
    await dispose(driver, linked);
    expect(await fs.readdir(real)).toEqual([]);
  });
});

it('a volume is not staged over a foreign mount, and does not remove one', async () => {
  const used = await stage(driver, await createVolume(driver, KINDS.ext4.options()), KINDS.ext4.options());
  await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  machine.run('mount', '-t', 'tmpfs', 'theirs', used.staging);
  await expect(restage(used)).rejects.toMatchObject({
    code: Code.ALREADY_EXISTS,
    message: expect.stringContaining(used.staging),
  });
  await expect(
    driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging }),
  ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
  expect(await machine.mountsAt(used.staging)).toHaveLength(1);
  machine.run('umount', used.staging);
  await release(driver, used);
});

it('another volume at the path is not taken for this one', async () => {
  const [one, two] = [await use(driver, KINDS.ext4.options()), await use(driver, KINDS.ext4.options())];
  await expect(publish(driver, { ...two, target: one.target })).rejects.toMatchObject({
    code: expect.any(Number),
  });
  await expect(
    driver.csi.NodeUnpublishVolume({ volume_id: two.id, target_path: one.target }),
  ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
  await expect(
    driver.csi.NodeUnstageVolume({ volume_id: two.id, staging_target_path: one.staging }),
  ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
  expect(await machine.mountsAt(one.target)).toHaveLength(1);
  await dispose(driver, one);
  await dispose(driver, two);
});

it('files of somebody else in the target folder stay, and the unpublish is done', async () => {
  const used = await stage(driver, await createVolume(driver, KINDS.tmpfs.options()), KINDS.tmpfs.options());
  await fs.mkdir(used.target);
  await fs.writeFile(path.join(used.target, 'theirs'), 'kept');
  await publish(driver, used);
  expect(await fs.readdir(used.target)).toEqual([]);
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  expect(await fs.readFile(path.join(used.target, 'theirs'), 'utf8')).toBe('kept');
  await release(driver, used);
});

it('a staging path that is a link, a file or missing is refused, and nothing is made', async () => {
  const used = await stage(driver, await createVolume(driver, KINDS.ext4.options()), KINDS.ext4.options());
  await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  const folder = machine.folder('real');
  const link = `${folder}-link`;
  const file = `${folder}-file`;
  await fs.symlink(folder, link);
  await fs.writeFile(file, '');
  for (const staging of [link, file])
    await expect(restage({ ...used, staging })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  for (const staging of [path.join(folder, 'missing'), '/nowhere/at/all'])
    await expect(restage({ ...used, staging })).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('does not exist'),
    });
  expect(await fs.readdir(folder)).toEqual([]);
  await release(driver, used);
});

describe('hostile ids', () => {
  const hostile = ['../../../tmp/x', '/etc/passwd', '..', '.', 'a/b', 'a\nb', `${'x'.repeat(120)}`, 'é🙂'];

  it.each(hostile)('%j as a volume id stays below the data folder', async (id) => {
    const before = await fs.readdir('/tmp');
    const target = await driver.target('hostile');
    await driver.csi.NodePublishVolume({
      volume_id: id,
      target_path: target,
      volume_capability: KINDS.directory.options().capability ?? null,
      volume_context: { 'csi.storage.k8s.io/ephemeral': 'true', backend: 'directory', size: '1Mi' },
    });
    await fs.writeFile(path.join(target, 'file'), 'x');
    await driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: target });
    await driver.csi.DeleteVolume({ volume_id: id });
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
    await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: machine.folder('none') });
    expect((await fs.readdir(path.join(driver.dataDir, 'volumes'))).filter((n) => n.length !== 32)).toEqual(
      [],
    );
    expect(
      (await fs.readdir('/tmp')).filter((name) => !before.includes(name) && /^(x|passwd|b)$/.test(name)),
    ).toEqual([]);
  });
});
