import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, stage, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

/** A disk of its own for a data folder, which its filesystem can give up as a broken disk makes it do. */
class DataDisk {
  private readonly image = path.join(machine.folder('image'), 'disk');
  readonly folder = machine.folder('disk');
  readonly dataDir = path.join(this.folder, 'data');

  constructor() {
    machine.run('truncate', '-s', '512M', this.image);
    machine.run('mkfs.ext4', '-q', this.image);
    this.mount();
  }

  private mount(...options: string[]): void {
    machine.run('mount', '-o', ['loop', 'errors=remount-ro', ...options].join(','), this.image, this.folder);
  }

  /** The filesystem finds an error in itself, and takes no writes from now on. */
  async fail(): Promise<void> {
    const device = machine.loops().find(({ file }) => file === this.image);
    await fs.writeFile(`/sys/fs/ext4/loop${device?.index}/trigger_fs_error`, 'made by a test');
    await expect(fs.writeFile(path.join(this.folder, 'probe'), '')).rejects.toMatchObject({ code: 'EROFS' });
  }

  mountReadOnly(): void {
    this.unmount();
    this.mount('ro');
  }

  repair(): void {
    this.unmount();
    // 1: errors corrected (e2fsck(8)).
    machine.run('sh', '-c', 'e2fsck -fy "$0" || test $? = 1', this.image);
    this.mount();
  }

  unmount(): void {
    machine.run('umount', this.folder);
  }
}

it('a data folder that turns read-only: volumes are taken down, all else is refused, and nothing is lost', async () => {
  const disk = new DataDisk();
  const { dataDir } = disk;
  const first = await machine.start({ dataDir });
  const ext4 = await use(first, KINDS.ext4.options());
  const inUse = [ext4, await use(first, KINDS.tmpfs.options())];
  const idle = await createVolume(first, KINDS.ext4.options());
  await writeMark(KINDS.ext4, ext4, 'before the disk failed');
  machine.run('sync', '-f', disk.folder);
  await disk.fail();

  const refused = { code: Code.INTERNAL, message: expect.stringMatching(/read-only filesystem: .*EROFS/) };
  await expect(createVolume(first, KINDS.ext4.options())).rejects.toMatchObject(refused);
  await expect(stage(first, idle, KINDS.ext4.options())).rejects.toMatchObject(refused);
  await expect(first.csi.DeleteVolume({ volume_id: idle })).rejects.toMatchObject(refused);
  await expect(
    first.csi.CreateSnapshot({ source_volume_id: idle, name: 'on a failed disk' }),
  ).rejects.toMatchObject(refused);
  for (const used of inUse) {
    await first.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await first.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    await expect(first.csi.ControllerUnpublishVolume({ volume_id: used.id })).rejects.toMatchObject(refused);
    expect(await machine.mountsAt(used.target)).toEqual([]);
    expect(await machine.mountsAt(used.staging)).toEqual([]);
  }
  expect(machine.loops(dataDir)).toEqual([]);
  await first.stop();
  // What a tmpfs volume holds is in memory until it is deleted.
  const [memory] = (await machine.host.mounts.list()).filter((entry) => entry.mountPoint.startsWith(dataDir));
  machine.run('umount', memory?.mountPoint ?? '');

  disk.repair();
  const second = await machine.start({ dataDir });
  for (const { id, capability } of inUse) {
    const again = await stage(second, id, { capability });
    await publish(second, again);
    if (id === ext4.id) expect(await readMark(KINDS.ext4, again)).toBe('before the disk failed');
    await dispose(second, again);
  }
  await second.csi.DeleteVolume({ volume_id: idle });
  await second.stop();
  disk.unmount();
});

it('a data folder that is read-only: the start says so, and what to do', async () => {
  const disk = new DataDisk();
  const first = await machine.start({ dataDir: disk.dataDir });
  const id = await createVolume(first, KINDS.ext4.options());
  await first.stop();
  disk.mountReadOnly();
  await expect(machine.start({ dataDir: disk.dataDir })).rejects.toThrow(
    `--data-dir ${disk.dataDir}: it cannot be made or written (EROFS); choose a folder on a writable disk`,
  );
  disk.repair();
  const second = await machine.start({ dataDir: disk.dataDir });
  await second.csi.DeleteVolume({ volume_id: id });
  await second.stop();
  disk.unmount();
});
