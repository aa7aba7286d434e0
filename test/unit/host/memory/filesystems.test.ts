import * as fs from 'node:fs';
import { FS_TYPES } from '../../../../src/host/host';
import { GIB, MemoryMachine, MIB } from './machine';

let machine: MemoryMachine;

beforeEach(() => {
  machine = new MemoryMachine();
});

afterEach(() => machine.close());

test.each([...FS_TYPES])(
  '%s: what was made is found, in the file, its device and its copy',
  async (fsType) => {
    const { filesystems, disks } = machine.host;
    const file = await machine.disk('disk', GIB);
    expect(await filesystems.probe(file)).toEqual({ kind: 'blank' });
    await filesystems.format(file, fsType, { label: 'data' });
    const found = await filesystems.probe(file);
    expect(found).toMatchObject({ kind: 'filesystem', fsType, sizeBytes: GIB, blockSize: 4096 });
    const device = await machine.attach(file);
    expect(await filesystems.probe(device.path)).toEqual(found);
    await disks.copySparse(file, machine.at('copy'));
    expect(await filesystems.probe(machine.at('copy'))).toEqual(found);
  },
);

test('each has a UUID of its own, from the random bytes given', async () => {
  const { filesystems } = machine.host;
  const [one, other] = [await machine.formatted('one', GIB), await machine.formatted('other', GIB)];
  expect(await filesystems.probe(one)).toMatchObject({ uuid: '01010101-0101-4101-8101-010101010101' });
  expect(await filesystems.probe(other)).toMatchObject({ uuid: '02020202-0202-4202-8202-020202020202' });
});

test('what is not blank, too small or labelled too long is refused', async () => {
  const { filesystems } = machine.host;
  const file = await machine.formatted('disk', GIB);
  await expect(filesystems.format(file, 'xfs')).rejects.toMatchObject({
    errno: 'EEXIST',
    message: expect.stringContaining('it holds ext4'),
  });
  const small = await machine.disk('small', filesystems.minimumBytes('xfs') - 1n);
  await expect(filesystems.format(small, 'xfs')).rejects.toMatchObject({ errno: 'EINVAL' });
  const label = 'x'.repeat(13);
  await expect(filesystems.format(small, 'xfs', { label })).rejects.toMatchObject({ errno: 'EINVAL' });
  const raw = await machine.disk('raw', GIB);
  fs.writeFileSync(raw, 'somebody’s data', { flag: 'r+' });
  expect(await filesystems.probe(raw)).toEqual({ kind: 'unknown', what: 'data of no filesystem we know' });
  await expect(filesystems.format(raw, 'ext4')).rejects.toMatchObject({ errno: 'EEXIST' });
  await expect(filesystems.probe(machine.at('nowhere'))).rejects.toMatchObject({ errno: 'ENOENT' });
});

test('damage to the superblock is seen', async () => {
  const file = await machine.formatted('disk', GIB);
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, 'garbage', 1024 + 40);
  fs.closeSync(fd);
  expect(await machine.host.filesystems.probe(file)).toEqual({
    kind: 'unknown',
    what: 'a damaged filesystem of the memory host',
  });
});

test('grows mounted to its device, not to its file, and never shrinks', async () => {
  const { filesystems, disks, loops, mounts } = machine.host;
  const { file, device, target } = await machine.mounted('stage', GIB, 'xfs');
  await disks.ensureSize(file, 2n * GIB);
  await filesystems.growMounted(target, 'xfs');
  expect(await filesystems.probe(file)).toMatchObject({ sizeBytes: GIB });
  await loops.refreshSize(device.index);
  const before = (await mounts.usage(target)).bytes.total;
  await filesystems.growMounted(target, 'xfs');
  expect(await filesystems.probe(file)).toMatchObject({ sizeBytes: 2n * GIB });
  expect((await mounts.usage(target)).bytes.total).toBeGreaterThan(before);
  await filesystems.growMounted(target, 'xfs');
  await expect(filesystems.growMounted(target, 'ext4')).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(filesystems.growMounted(machine.folder, 'xfs')).rejects.toMatchObject({ errno: 'EINVAL' });
});

test('ext4 alone grows unmounted', async () => {
  const { filesystems, disks } = machine.host;
  const file = await machine.formatted('disk', 16n * MIB);
  await disks.ensureSize(file, GIB + 5n);
  await filesystems.growOffline(file, 'ext4');
  expect(await filesystems.probe(file)).toMatchObject({ sizeBytes: GIB });
  await expect(filesystems.growOffline(file, 'xfs')).rejects.toMatchObject({ errno: 'EINVAL' });
  const blank = await machine.disk('blank', GIB);
  await expect(filesystems.growOffline(blank, 'ext4')).rejects.toMatchObject({ errno: 'EINVAL' });
});

test('a btrfs gets a new identity, others keep theirs', async () => {
  const { filesystems } = machine.host;
  for (const fsType of FS_TYPES) {
    const file = await machine.formatted(fsType, GIB, fsType);
    const before = await filesystems.probe(file);
    await filesystems.renewIdentity(file, fsType);
    const after = await filesystems.probe(file);
    if (fsType === 'btrfs') expect(after).not.toEqual(before);
    else expect(after).toEqual(before);
  }
});

test('the host can do everything, and remembers its boot', async () => {
  expect(await machine.host.abilities()).toEqual({
    mount: true,
    loop: true,
    growMountedExt4: true,
    filesystems: { ext4: true, xfs: true, btrfs: true },
  });
  expect(await machine.host.bootId()).toBe('boot');
});
