import * as fs from 'node:fs';
import * as path from 'node:path';
import { eachOnMachine, type Machine, run } from './filesystems-machine';

const MIB = 1n << 20n;

const FILESYSTEMS = [
  { fsType: 'xfs', check: (file: string) => run('xfs_repair', '-n', file) },
  { fsType: 'btrfs', check: (file: string) => run('btrfs', 'check', file) },
] as const;

const content = Buffer.alloc(200_000, 'kept');

let machine: Machine;
eachOnMachine((fresh) => {
  machine = fresh;
});

describe.each(FILESYSTEMS)('$fsType', ({ fsType, check }) => {
  test('is sound at its minimum, before and after use, and one byte less is refused', async () => {
    const { filesystems } = machine.host;
    const minimum = filesystems.minimumBytes(fsType);
    const short = await machine.disk(minimum - 1n);
    await expect(filesystems.format(short, fsType)).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringContaining(`${fsType} needs at least ${minimum}`),
    });
    expect(await filesystems.probe(short)).toEqual({ kind: 'blank' });
    // The tool itself sets this limit.
    expect(() => run(`mkfs.${fsType}`, short)).toThrow(/300MB|114294784/);

    const file = await machine.formatted(minimum, fsType);
    check(file);
    await machine.mounted(file, fsType, async (mountPoint) => {
      fs.writeFileSync(path.join(mountPoint, 'file'), content);
    });
    check(file);
    await machine.mounted(file, fsType, async (mountPoint) => {
      expect(fs.readFileSync(path.join(mountPoint, 'file')).equals(content)).toBe(true);
    });
  });

  test('is found again with its size, UUID and label', async () => {
    const { filesystems } = machine.host;
    const file = await machine.disk(320n * MIB);
    await filesystems.format(file, fsType, { label: 'volume' });
    const found = await filesystems.probe(file);
    expect(found).toMatchObject({ kind: 'filesystem', fsType, sizeBytes: 320n * MIB, blockSize: 4096 });
    const uuid = found.kind === 'filesystem' ? found.uuid : 'none';
    const blkid = run('blkid', '-p', '-o', 'export', file);
    expect(blkid).toContain(`\nUUID=${uuid}\n`);
    expect(blkid).toContain('LABEL=volume\n');
    const device = await machine.device(file);
    expect(await filesystems.probe(device.path)).toEqual(found);
  });

  test('an mkfs that could not finish leaves nothing that looks like a filesystem', async () => {
    const small = await machine.tmpfs(256n * 1024n);
    const file = await machine.disk(400n * MIB, small);
    await expect(machine.host.filesystems.format(file, fsType)).rejects.toMatchObject({
      errno: 'TOOL',
      operation: `mkfs.${fsType}`,
    });
    expect((await machine.host.filesystems.probe(file)).kind).not.toBe('filesystem');
  });

  test('a label that is too long is refused before anything is written', async () => {
    const file = await machine.disk(320n * MIB);
    const label = 'l'.repeat(256);
    const format = machine.host.filesystems.format(file, fsType, { label });
    await expect(format).rejects.toMatchObject({ errno: 'EINVAL' });
    expect(await machine.host.filesystems.probe(file)).toEqual({ kind: 'blank' });
  });
});

describe('a copy beside its source', () => {
  test('of btrfs, taken while it was mounted, gets a UUID of its own and keeps all it holds', async () => {
    const file = await machine.formatted(320n * MIB, 'btrfs');
    const before = await machine.host.filesystems.probe(file);
    const copy = machine.at('copy');
    await machine.mounted(file, 'btrfs', async (mountPoint) => {
      fs.writeFileSync(path.join(mountPoint, 'file'), content);
      await machine.host.mounts.sync(mountPoint);
      const late = fs.openSync(path.join(mountPoint, 'late'), 'w');
      fs.writeSync(late, content);
      // fsync alone: what was written is in the log tree only, which the next mount has to replay.
      fs.fsyncSync(late);
      fs.closeSync(late);
      await machine.host.disks.copySparse(file, copy);

      await machine.host.filesystems.renewIdentity(copy, 'btrfs');
      const after = await machine.host.filesystems.probe(copy);
      expect(after).toMatchObject({ kind: 'filesystem', fsType: 'btrfs', sizeBytes: 320n * MIB });
      expect(after).not.toEqual(before);
      await machine.mounted(copy, 'btrfs', async (other) => {
        expect(fs.readFileSync(path.join(other, 'file')).equals(content)).toBe(true);
        expect(fs.readFileSync(path.join(other, 'late')).equals(content)).toBe(true);
        fs.writeFileSync(path.join(other, 'only here'), content);
        expect(fs.existsSync(path.join(mountPoint, 'only here'))).toBe(false);
      });
    });
    run('btrfs', 'check', copy);
    expect(await machine.host.filesystems.probe(file)).toEqual(before);
  });

  test('of xfs keeps its UUID: it is mounted with nouuid', async () => {
    const file = await machine.formatted(320n * MIB, 'xfs');
    const copy = machine.at('copy');
    await machine.host.disks.copySparse(file, copy);
    await machine.host.filesystems.renewIdentity(copy, 'xfs');
    run('cmp', file, copy);
    await machine.mounted(file, 'xfs', async () => {
      await machine.mounted(copy, 'xfs', async () => undefined, ['nouuid']);
    });
  });
});
