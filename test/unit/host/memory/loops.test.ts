import * as fs from 'node:fs';
import { GIB, MemoryMachine, MIB } from './machine';

let machine: MemoryMachine;

beforeEach(() => {
  machine = new MemoryMachine();
});

afterEach(() => machine.close());

test('take the lowest free index, and tell their file by its inode', async () => {
  const { loops } = machine.host;
  const files = [await machine.disk('a', GIB), await machine.disk('b', GIB)];
  const devices = [
    await machine.attach(files[0] ?? ''),
    await machine.attach(files[1] ?? '', { readOnly: true }),
  ];
  expect(devices.map(({ index }) => index)).toEqual([0, 1]);
  const { ino } = fs.statSync(files[1] ?? '', { bigint: true });
  expect(await loops.status(1)).toMatchObject({
    backing: { inode: ino, path: files[1] },
    readOnly: true,
    autoclear: false,
    sizeBytes: GIB,
  });
  await devices[0]?.release();
  await loops.detach(0);
  expect(await loops.status(0)).toBeNull();
  expect((await machine.attach(files[0] ?? '')).index).toBe(0);
  expect((await loops.list()).map(({ index }) => index)).toEqual([0, 1]);
  expect((await loops.list(undefined, new Set([0]))).map(({ index }) => index)).toEqual([1]);
});

test('one attach, one device, also of the same file, and no node of the machine is named', async () => {
  const file = await machine.disk('a', GIB);
  const [one, other] = [await machine.attach(file), await machine.attach(file)];
  expect(one.path).not.toBe(other.path);
  expect(fs.existsSync(one.path)).toBe(false);
});

test('take the size of their file when told to', async () => {
  const file = await machine.disk('a', 16n * MIB);
  const { index } = await machine.attach(file);
  await machine.host.disks.ensureSize(file, GIB + 100n);
  expect(await machine.host.loops.status(index)).toMatchObject({ sizeBytes: 16n * MIB });
  await machine.host.loops.refreshSize(index);
  expect(await machine.host.loops.status(index)).toMatchObject({ sizeBytes: GIB });
});

test('with autoclear live as long as a descriptor or a mount uses them', async () => {
  const { loops, mounts } = machine.host;
  const device = await machine.attach(await machine.formatted('a', GIB), { autoclear: true });
  const again = await loops.open(device.index);
  await device.release();
  await device.release();
  expect(await loops.status(device.index)).not.toBeNull();
  const target = await machine.mount(device.path, 'stage');
  const pod = await machine.bind(target, machine.makeFolder('pod'));
  await again?.release();
  await mounts.unmount(target);
  expect(await loops.status(device.index)).not.toBeNull();
  await mounts.unmount(pod);
  expect(await loops.status(device.index)).toBeNull();
  expect(await loops.open(device.index)).toBeNull();
});

test('detached while in use go with their last user; detached twice is nothing to do', async () => {
  const { loops, mounts } = machine.host;
  const { device, target } = await machine.mounted('stage', GIB);
  await device.release();
  expect(await loops.status(device.index)).not.toBeNull();
  await loops.detach(device.index);
  expect(await loops.status(device.index)).not.toBeNull();
  await mounts.unmount(target);
  expect(await loops.status(device.index)).toBeNull();
  await loops.detach(device.index);
});

test('a released descriptor of a device that is gone does not touch its successor', async () => {
  const { loops } = machine.host;
  const file = await machine.disk('a', GIB);
  const first = await machine.attach(file, { autoclear: true });
  await first.release();
  const second = await machine.attach(file, { autoclear: true });
  expect(second.index).toBe(first.index);
  await first.release();
  expect(await loops.status(second.index)).not.toBeNull();
});

test('can be made read-only and writable again', async () => {
  const { loops } = machine.host;
  const device = await machine.attach(await machine.disk('protected', GIB));
  for (const readOnly of [true, false]) {
    await loops.setReadOnly(device.index, readOnly);
    expect(await loops.status(device.index)).toMatchObject({ readOnly });
  }
});

test('need a regular file, and to be attached', async () => {
  await expect(machine.attach(machine.at('nowhere'))).rejects.toMatchObject({ errno: 'ENOENT' });
  await expect(machine.attach(machine.folder)).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(machine.host.loops.refreshSize(7)).rejects.toMatchObject({ errno: 'ENXIO' });
  await expect(machine.host.loops.setReadAhead(7, 4)).rejects.toMatchObject({ errno: 'ENXIO' });
  await expect(machine.host.loops.setReadOnly(7, true)).rejects.toMatchObject({ errno: 'ENXIO' });
});
