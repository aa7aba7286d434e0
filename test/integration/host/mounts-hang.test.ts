import { promises as fs, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostError } from '../../../src/host/host';
import { createLibc, S_IF } from '../../../src/host/libc';
import { createMounts } from '../../../src/host/linux/mounts';
import { describeMounting, mountUnanswered } from './mounts-support';

const errnoOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: HostError) => error.errno,
  );

describeMounting('mounts that are dead or hang', (workspace) => {
  const { mounts, makeFolder, attachDisk } = workspace;

  test('a dead mount is not taken for a missing one, and goes with unmount', async () => {
    const target = makeFolder('dead');
    (await mountUnanswered(workspace, target)).die();
    await expect(mounts.at(target)).rejects.toMatchObject({
      errno: 'ENOTCONN',
      message: expect.stringMatching(/dead: ENOTCONN \(transport endpoint is not connected\)/),
    });
    await expect(mounts.usage(target)).rejects.toMatchObject({ errno: 'ENOTCONN' });
    expect(await workspace.mounted()).toEqual([target]);
    await mounts.unmount(target);
    expect(await mounts.at(target)).toBeNull();
  });

  test('a shut down xfs is dead, not missing', async () => {
    const device = await attachDisk('shutdown.img', 'xfs', 320);
    const target = makeFolder('shutdown');
    await mounts.mount({ fsType: 'xfs', source: device.path, target, readOnly: false, options: [] });
    await shutDown(target);
    expect(await errnoOf(mounts.at(target))).toBe('EIO');
    await mounts.unmount(target);
    await device.release();
  });

  test('hung calls neither stop file reads nor the calls that end them', async () => {
    // Fewer than libuv's four threads, as the process keeps its own limit below the pool it asks for.
    const libc = createLibc({ width: 2, reserve: 1 });
    const limited = createMounts(libc);
    const target = makeFolder('unanswered');
    const filesystem = await mountUnanswered(workspace, target);
    const hung = Array.from({ length: 12 }, () => errnoOf(limited.at(target)));
    const settled = Promise.race(hung);
    for (let round = 0; round < 50; round++) {
      expect(await fs.readFile('/proc/self/stat', 'utf8')).toMatch(/^\d+ /);
    }
    await expect(Promise.race([settled, Promise.resolve('waiting')])).resolves.toBe('waiting');
    // Both places are taken, and ten more wait: a lazy unmount goes past them.
    await limited.unmount(target, { lazy: true });
    expect(await workspace.mounted()).toEqual([]);
    filesystem.die();
    const [first, second, ...later] = await Promise.all(hung);
    expect([first, second]).toEqual(['ENOTCONN', 'ENOTCONN']);
    expect(later).toEqual(Array(10).fill('none'));
  });

  test('a frozen filesystem holds writes back until thawed, however many wait', async () => {
    const libc = createLibc({ width: 2, reserve: 1 });
    const limited = createMounts(libc);
    const device = await attachDisk('frozen.img', 'ext4', 16);
    const target = makeFolder('frozen');
    await limited.mount({ fsType: 'ext4', source: device.path, target, readOnly: false, options: [] });
    writeFileSync(join(target, 'before'), 'written before');
    await limited.freeze(target);
    await expect(workspace.mounts.freeze(target)).rejects.toMatchObject({
      errno: 'EBUSY',
      operation: 'FIFREEZE',
      message: expect.stringContaining(target),
    });
    let made = 0;
    const writes = Array.from({ length: 6 }, async (_, index) => {
      await libc.mknod(join(target, `node${index}`), S_IF.REG | 0o600, { major: 0, minor: 0 });
      made++;
    });
    for (let round = 0; round < 50; round++) await fs.readFile('/proc/self/stat');
    expect(readFileSync(join(target, 'before'), 'utf8')).toBe('written before');
    expect(made).toBe(0);
    await limited.thaw(target);
    await Promise.all(writes);
    expect(made).toBe(6);
    await expect(limited.thaw(target)).rejects.toMatchObject({ errno: 'EINVAL', operation: 'FITHAW' });
    await limited.sync(target);
    await limited.unmount(target);
    await device.release();
  });

  test('a folder where nothing is mounted is not frozen: that would be the filesystem below it', async () => {
    const inside = join(makeFolder('not-mounted'), 'inside');
    await expect(mounts.freeze(makeFolder('not-mounted'))).rejects.toMatchObject({
      errno: 'EINVAL',
      operation: 'FIFREEZE',
      message: expect.stringMatching(/nothing is mounted there/),
    });
    writeFileSync(inside, 'still written');
    const target = makeFolder('tmpfs');
    await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options: [] });
    await expect(mounts.freeze(target)).rejects.toMatchObject({ errno: 'EOPNOTSUPP' });
    await mounts.unmount(target);
  });

  /** XFS_IOC_GOINGDOWN: the filesystem answers EIO from now on, as when its device vanished. */
  async function shutDown(target: string): Promise<void> {
    const fd = await workspace.libc.open(target, 0);
    const flags = Buffer.alloc(4);
    flags.writeUInt32LE(2);
    await workspace.libc.ioctl(fd, 0x8004587d, flags);
    await workspace.libc.close(fd);
  }
});
