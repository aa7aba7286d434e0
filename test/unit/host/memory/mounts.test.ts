import * as fs from 'node:fs';
import * as path from 'node:path';
import { GIB, MemoryMachine, MIB } from './machine';

let machine: MemoryMachine;

beforeEach(() => {
  machine = new MemoryMachine();
});

afterEach(() => machine.close());

describe('what is mounted where', () => {
  test('nothing, on a folder, a missing path and inside a mount', async () => {
    const { mounts } = machine.host;
    const { target } = await machine.mounted('stage', GIB);
    fs.mkdirSync(path.join(target, 'inside'));
    expect(await mounts.at(machine.makeFolder('folder'))).toBeNull();
    expect(await mounts.at(machine.at('no/such/folder'))).toBeNull();
    expect(await mounts.at(path.join(target, 'inside'))).toBeNull();
  });

  test('a disk, by its device and its root', async () => {
    const { device, target } = await machine.mounted('stage', GIB);
    expect(await machine.host.mounts.at(target)).toMatchObject({
      device: device.device,
      rootInode: 2n,
      readOnly: false,
    });
  });

  test('a bind of a mount is the same filesystem, another mount', async () => {
    const { target } = await machine.mounted('stage', GIB);
    const bound = await machine.bind(target, machine.makeFolder('pod'), { readOnly: true });
    const [stage, pod] = [await machine.host.mounts.at(target), await machine.host.mounts.at(bound)];
    expect(pod).toMatchObject({ device: stage?.device, rootInode: stage?.rootInode, readOnly: true });
    expect(pod?.mountId).not.toBe(stage?.mountId);
    expect(stage?.readOnly).toBe(false);
  });

  test('a bind of a folder of the machine is that folder', async () => {
    const source = machine.makeFolder('source');
    const bound = await machine.bind(source, machine.makeFolder('pod'));
    expect(await machine.host.mounts.at(bound)).toMatchObject({
      rootInode: fs.statSync(source, { bigint: true }).ino,
      readOnly: false,
    });
  });

  test('a bind of a folder on a mount, by that folder', async () => {
    const { device, target } = await machine.mounted('stage', GIB);
    const inside = path.join(target, 'inside');
    fs.mkdirSync(inside);
    const bound = await machine.bind(inside, machine.makeFolder('pod'));
    expect(await machine.host.mounts.at(bound)).toMatchObject({
      device: device.device,
      rootInode: fs.statSync(inside, { bigint: true }).ino,
    });
  });

  test('a device node on a file', async () => {
    const device = await machine.attach(await machine.disk('raw', GIB));
    fs.writeFileSync(machine.at('node'), '');
    await machine.bind(device.path, machine.at('node'), { readOnly: true });
    expect(await machine.host.mounts.at(machine.at('node'))).toMatchObject({ readOnly: true });
  });

  test('through a link in the path, but not through one at its end', async () => {
    const { target } = await machine.mounted('stage', GIB);
    const real = machine.makeFolder('real');
    await machine.bind(target, machine.makeFolder('real/pod'));
    fs.symlinkSync(real, machine.at('link'));
    fs.symlinkSync(path.join(real, 'pod'), machine.at('end'));
    expect(await machine.host.mounts.at(machine.at('link/pod'))).not.toBeNull();
    expect(await machine.host.mounts.at(machine.at('end'))).toBeNull();
  });

  test('the whole table, in order', async () => {
    const { target, device } = await machine.mounted('stage', GIB);
    await machine.bind(target, machine.makeFolder('pod'), { readOnly: true, options: ['noexec'] });
    const [stage, pod] = await machine.host.mounts.list();
    expect(stage).toMatchObject({
      mountPoint: target,
      fsType: 'ext4',
      source: device.path,
      root: '/',
      options: ['rw'],
    });
    expect(pod).toMatchObject({ mountPoint: machine.at('pod'), fsType: 'ext4', options: ['ro', 'noexec'] });
  });
});

describe('read-only', () => {
  test('is inherited by binds, and a superblock that is read-only makes all its mounts so', async () => {
    const file = await machine.formatted('disk', GIB);
    const device = await machine.attach(file);
    const stage = await machine.mount(device.path, 'stage', { options: ['ro'] });
    const pod = await machine.bind(stage, machine.makeFolder('pod'));
    const rw = await machine.bind(stage, machine.makeFolder('rw'), { options: ['rw'] });
    for (const target of [stage, pod, rw]) {
      expect(await machine.host.mounts.at(target)).toMatchObject({ readOnly: true });
    }
  });

  test('a device that is read-only cannot be mounted writable, and not both ways', async () => {
    const file = await machine.formatted('disk', GIB);
    const device = await machine.attach(file, { readOnly: true });
    await expect(machine.mount(device.path, 'one')).rejects.toMatchObject({ errno: 'EACCES' });
    await machine.mount(device.path, 'two', { readOnly: true });
    await machine.mount(device.path, 'three', { readOnly: true });
    const other = await machine.mounted('four', GIB);
    await expect(machine.mount(other.device.path, 'five', { readOnly: true })).rejects.toMatchObject({
      errno: 'EBUSY',
    });
  });
});

describe('what cannot be mounted', () => {
  test('another filesystem than the one asked for, nothing, or half of one', async () => {
    const xfs = await machine.attach(await machine.formatted('xfs', GIB, 'xfs'));
    const blank = await machine.attach(await machine.disk('blank', GIB));
    await expect(machine.mount(xfs.path, 'one')).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringContaining('it holds xfs'),
    });
    await expect(machine.mount(blank.path, 'one')).rejects.toMatchObject({ errno: 'EINVAL' });
    const cut = await machine.formatted('cut', 8n * MIB);
    fs.truncateSync(cut, Number(2n * MIB));
    const device = await machine.attach(cut);
    await expect(machine.mount(device.path, 'one')).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringContaining('bad geometry'),
    });
    expect(await machine.host.mounts.list()).toEqual([]);
  });

  test('a type, a device or a target that is not there', async () => {
    const { device } = await machine.mounted('stage', GIB);
    const at = (fsType: string, source: string, target: string) =>
      machine.host.mounts.mount({ fsType, source, target, readOnly: false, options: [] });
    const folder = machine.makeFolder('folder');
    await expect(at('vfat', device.path, folder)).rejects.toMatchObject({ errno: 'ENODEV' });
    await expect(at('ext4', '/dev/nothing', folder)).rejects.toMatchObject({ errno: 'ENOENT' });
    await expect(at('ext4', folder, folder)).rejects.toMatchObject({ errno: 'ENOTBLK' });
    await expect(at('ext4', device.path, machine.at('nowhere'))).rejects.toMatchObject({ errno: 'ENOENT' });
    fs.writeFileSync(machine.at('file'), '');
    await expect(at('ext4', device.path, machine.at('file'))).rejects.toMatchObject({ errno: 'ENOTDIR' });
    await expect(machine.bind(folder, machine.at('file'))).rejects.toMatchObject({ errno: 'ENOTDIR' });
    await expect(machine.bind(machine.at('file'), folder)).rejects.toMatchObject({ errno: 'ENOTDIR' });
    await expect(machine.bind(machine.at('nowhere'), folder)).rejects.toMatchObject({ errno: 'ENOENT' });
  });

  test('with an option the filesystem does not know, which is named', async () => {
    const device = await machine.attach(await machine.formatted('disk', GIB));
    const options = ['noatime', 'data=journal', 'notanoption=1'];
    await expect(machine.mount(device.path, 'stage', { options })).rejects.toMatchObject({
      errno: 'EINVAL',
      option: 'notanoption',
    });
    await machine.mount(device.path, 'stage', { options: options.slice(0, 2) });
  });

  test('two xfs with one UUID, unless asked not to look', async () => {
    const { file } = await machine.mounted('stage', GIB, 'xfs');
    await machine.host.disks.copySparse(file, machine.at('copy'));
    const copy = await machine.attach(machine.at('copy'));
    await expect(machine.mount(copy.path, 'other', { fsType: 'xfs' })).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringContaining('duplicate UUID'),
    });
    await machine.mount(copy.path, 'other', { fsType: 'xfs', options: ['nouuid'] });
  });
});
