import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, stage, type UsedVolume, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

/** Mounts and loop devices are gone, the folders of the CO and the data folder are not, and the boot has another id. */
async function reboot(driver: TestDriver): Promise<TestDriver> {
  await driver.stop();
  const table = (await machine.host.mounts.list()).map((entry) => entry.mountPoint);
  for (const mountPoint of table.filter((each) => each.startsWith(`${machine.root}/`)).reverse())
    machine.run('umount', mountPoint);
  for (const { index } of machine.loops()) await machine.host.loops.detach(index);
  expect(machine.loops()).toEqual([]);
  return machine.start({
    dataDir: driver.dataDir,
    host: { ...machine.host, bootId: async () => 'the boot after' },
  });
}

const recordsOf = async ({ dataDir }: TestDriver) => {
  const names = await fs.readdir(path.join(dataDir, 'nodes/node-1'), { recursive: true });
  return names.filter((name) => /^(stages|publications|undo|mounts)\//.test(name));
};

const restage = (driver: TestDriver, used: UsedVolume) =>
  driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });

describe.each(ALL_KINDS)('a $name volume in use when the machine was rebooted', (kind) => {
  it('is staged and published anew at the same paths', async () => {
    const first = await machine.start();
    const used = await use(first, kind.options());
    await writeMark(kind, used, 'of the boot before');
    const second = await reboot(first);
    expect(await recordsOf(second)).toEqual([]);
    await restage(second, used);
    await publish(second, used);
    // A tmpfs does not outlive a reboot.
    const found = kind === KINDS.tmpfs ? undefined : 'of the boot before';
    expect(await readMark(kind, used)).toBe(found);
    await dispose(second, used);
    await second.stop();
  });

  it('is taken down by a CO that believes it published still', async () => {
    const first = await machine.start();
    const used = await use(first, kind.options());
    const second = await reboot(first);
    await dispose(second, used);
    await expect(fs.lstat(used.target)).rejects.toMatchObject({ code: 'ENOENT' });
    await second.stop();
    expect(await machine.table()).toBe('');
  });

  it('is not published from a staging folder that is empty now', async () => {
    const first = await machine.start();
    const used = await use(first, kind.options());
    const second = await reboot(first);
    await expect(publish(second, used)).rejects.toMatchObject({
      message: expect.stringContaining('is not staged'),
    });
    expect(await machine.mountsAt(used.target)).toEqual([]);
    await dispose(second, used);
    await second.stop();
  });
});

it('an inline volume ends with the boot of its pod', async () => {
  const first = await machine.start();
  const target = await first.target('inline');
  await first.csi.NodePublishVolume({
    volume_id: 'inline',
    target_path: target,
    volume_capability: KINDS.ext4.options().capability ?? null,
    volume_context: { 'csi.storage.k8s.io/ephemeral': 'true', size: '64Mi' },
  });
  const second = await reboot(first);
  expect(await recordsOf(second)).toEqual([]);
  expect(await fs.readdir(path.join(first.dataDir, 'volumes'))).toEqual([]);
  await second.csi.NodeUnpublishVolume({ volume_id: 'inline', target_path: target });
  await expect(fs.lstat(target)).rejects.toMatchObject({ code: 'ENOENT' });
  await second.stop();
});

it('snapshots outlive a reboot', async () => {
  const first = await machine.start();
  const used = await use(first, KINDS.ext4.options());
  await writeMark(KINDS.ext4, used, 'of the boot before');
  const { snapshot } = await first.csi.CreateSnapshot({ source_volume_id: used.id, name: 'before' });
  const source = { snapshot: { snapshot_id: snapshot?.snapshot_id ?? '' } };
  const second = await reboot(first);
  const options = { ...KINDS.ext4.options(), source };
  const copy = await stage(second, await createVolume(second, options), options);
  await publish(second, copy);
  expect(await readMark(KINDS.ext4, copy)).toBe('of the boot before');
  for (const each of [copy, used]) await dispose(second, each);
  await second.csi.DeleteSnapshot({ snapshot_id: source.snapshot.snapshot_id });
  await second.stop();
});
