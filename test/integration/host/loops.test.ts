import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeDevice } from '../../../src/host/libc';
import { describeMounting } from './mounts-support';

describeMounting('loop devices', (workspace) => {
  const { loops, mounts, folder, makeFolder, makeDisk, makeFile } = workspace;
  const RW = { readOnly: false, autoclear: false };

  test('a device holds the bytes of its file and names it by device and inode', async () => {
    const file = makeDisk('bytes.img', null, 1);
    writeFileSync(file, Buffer.alloc(1 << 20, 0x5a));
    const device = await loops.attach(file, RW);
    expect(device.path).toBe(`/dev/loop${device.index}`);
    expect(device.device).toEqual(decodeDevice(statSync(device.path, { bigint: true }).rdev));
    expect(readFileSync(device.path).equals(readFileSync(file))).toBe(true);
    const stat = statSync(file, { bigint: true });
    expect(await loops.status(device.index)).toEqual({
      index: device.index,
      path: device.path,
      backing: { device: decodeDevice(stat.dev), inode: stat.ino, path: file },
      readOnly: false,
      autoclear: false,
      sizeBytes: 1n << 20n,
    });
    // The inode stays the proof when the name does not.
    renameSync(file, `${file}.moved`);
    expect(await loops.status(device.index)).toMatchObject({
      backing: { inode: stat.ino, path: `${file}.moved` },
    });
    await device.release();
    await loops.detach(device.index);
    expect(await loops.status(device.index)).toBeNull();
  });

  test('without autoclear a device outlives its descriptor; detaching twice is fine', async () => {
    const device = await loops.attach(makeDisk('stays.img', null, 1), RW);
    await device.release();
    await device.release();
    expect(await loops.status(device.index)).toMatchObject({ index: device.index });
    await loops.detach(device.index);
    await loops.detach(device.index);
    expect(await loops.status(device.index)).toBeNull();
    expect(await loops.open(device.index)).toBeNull();
  });

  test('with autoclear a device lives while a mount uses it, and is gone after release and unmount', async () => {
    const device = await workspace.attachDisk('autoclear.img', 'ext4', 16);
    const target = makeFolder('autoclear');
    await mounts.mount({ fsType: 'ext4', source: device.path, target, readOnly: false, options: [] });
    await device.release();
    expect(await loops.status(device.index)).toMatchObject({ autoclear: true });
    await mounts.unmount(target);
    expect(await loops.status(device.index)).toBeNull();
  });

  test('detaching a device in use clears it on last close', async () => {
    const device = await loops.attach(makeDisk('in-use.img', 'ext4', 16), RW);
    const target = makeFolder('in-use');
    await mounts.mount({ fsType: 'ext4', source: device.path, target, readOnly: false, options: [] });
    await device.release();
    await loops.detach(device.index);
    expect(await loops.status(device.index)).toMatchObject({ autoclear: true });
    writeFileSync(join(target, 'still'), 'works');
    await mounts.unmount(target);
    expect(await loops.status(device.index)).toBeNull();
  });

  test('an opened device keeps an autoclear one alive', async () => {
    const device = await workspace.attachDisk('opened.img', null, 1);
    const again = await loops.open(device.index);
    expect(again).toMatchObject({ index: device.index, path: device.path, device: device.device });
    await device.release();
    expect(await loops.status(device.index)).not.toBeNull();
    await again?.release();
    expect(await loops.status(device.index)).toBeNull();
  });

  test('a read-only device cannot be written, and opens again', async () => {
    const file = makeDisk('ro.img', null, 1);
    const device = await loops.attach(file, { readOnly: true, autoclear: true });
    expect(await loops.status(device.index)).toMatchObject({ readOnly: true, autoclear: true });
    expect(() => writeFileSync(device.path, 'x')).toThrow(/EACCES|EPERM|EROFS/);
    const again = await loops.open(device.index);
    await device.release();
    await again?.release();
  });

  test('the same file attached twice is two devices', async () => {
    const file = makeDisk('twice.img', null, 1);
    const [first, second] = await Promise.all([loops.attach(file, RW), loops.attach(file, RW)]);
    expect(first.index).not.toBe(second.index);
    for (const device of [first, second]) {
      await device.release();
      await loops.detach(device.index);
    }
  });

  test('fifty at once all get a device of their own', async () => {
    const files = Array.from({ length: 50 }, (_, index) => makeDisk(`many-${index}.img`, null, 1));
    const devices = await Promise.all(
      files.map((file) => loops.attach(file, { readOnly: false, autoclear: true })),
    );
    expect(new Set(devices.map(({ index }) => index)).size).toBe(50);
    const statuses = await loops.list();
    for (const [position, device] of devices.entries()) {
      expect(statuses.find(({ index }) => index === device.index)?.backing.path).toBe(files[position]);
    }
    expect(statuses.map(({ index }) => index)).toEqual(
      [...statuses.map(({ index }) => index)].sort((a, b) => a - b),
    );
    const known = new Set(devices.map(({ index }) => index));
    expect((await loops.list(undefined, known)).filter(({ index }) => known.has(index))).toEqual([]);
    await Promise.all(devices.map((device) => device.release()));
  });

  test('two processes that take indexes from each other both get all they asked for', async () => {
    const other = workspace.another();
    const attach = async (host: typeof loops, name: string) => {
      const files = Array.from({ length: 20 }, (_, index) => makeDisk(`${name}-${index}.img`, null, 1));
      return Promise.all(files.map((file) => host.attach(file, { readOnly: false, autoclear: true })));
    };
    const devices = (await Promise.all([attach(loops, 'ours'), attach(other, 'theirs')])).flat();
    expect(new Set(devices.map(({ index }) => index)).size).toBe(40);
    await Promise.all(devices.map((device) => device.release()));
  });

  test('refreshSize gives the device the size its file has now', async () => {
    const file = makeDisk('grows.img', null, 1);
    const device = await loops.attach(file, { readOnly: false, autoclear: true });
    truncateSync(file, 3 << 20);
    expect(await loops.status(device.index)).toMatchObject({ sizeBytes: 1n << 20n });
    await loops.refreshSize(device.index);
    expect(await loops.status(device.index)).toMatchObject({ sizeBytes: 3n << 20n });
    await device.release();
  });

  test('setReadOnly refuses writes, also of who has the device open, and allows them again', async () => {
    const device = await workspace.attachDisk('read-only.img', null, 1);
    const node = await open(device.path, 'r+');
    const write = () =>
      node.write(Buffer.from('x'), 0, 1, 0).then(
        () => 'written',
        (error) => error.code,
      );
    expect(await write()).toBe('written');
    await loops.setReadOnly(device.index, true);
    expect(await write()).toBe('EPERM');
    await loops.setReadOnly(device.index, false);
    expect(await write()).toBe('written');
    await node.close();
    await device.release();
  });

  test('setReadAhead is in KiB', async () => {
    const device = await workspace.attachDisk('read-ahead.img', null, 1);
    const inSys = () => readFileSync(`/sys/block/loop${device.index}/queue/read_ahead_kb`, 'utf8').trim();
    await loops.setReadAhead(device.index, 64);
    expect(inSys()).toBe('64');
    await loops.setReadAhead(device.index, 0);
    expect(inSys()).toBe('0');
    await device.release();
  });

  test('a backing file that was removed says so', async () => {
    const file = makeDisk('removed.img', null, 1);
    const device = await loops.attach(file, { readOnly: false, autoclear: true });
    const { ino } = statSync(file, { bigint: true });
    rmSync(file);
    expect(await loops.status(device.index)).toMatchObject({
      backing: { inode: ino, path: `${file} (deleted)` },
    });
    await device.release();
  });

  test('what cannot be attached is refused, by name', async () => {
    const absent = join(folder, 'absent.img');
    await expect(loops.attach(absent, RW)).rejects.toMatchObject({
      errno: 'ENOENT',
      message: expect.stringContaining(absent),
    });
    await expect(loops.attach(makeFolder('a-folder'), { ...RW, readOnly: true })).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringMatching(/a-folder.*regular file/),
    });
    await expect(loops.refreshSize(99_999)).rejects.toMatchObject({ errno: expect.stringMatching(/^E/) });
    expect(await loops.status(99_999)).toBeNull();
    expect(await loops.open(99_999)).toBeNull();
    await loops.detach(99_999);
  });

  test('a file on a read-only mount attaches read-only, and only so', async () => {
    const source = makeFolder('ro-source');
    makeFile('ro-source/disk.img', 'x'.repeat(4096));
    const target = makeFolder('ro-target');
    await mounts.bind({ source, target, readOnly: true, options: [] });
    const file = join(target, 'disk.img');
    await expect(loops.attach(file, RW)).rejects.toMatchObject({ errno: 'EROFS' });
    const device = await loops.attach(file, { readOnly: true, autoclear: true });
    await device.release();
    await mounts.unmount(target);
  });
});
