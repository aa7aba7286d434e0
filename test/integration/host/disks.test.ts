import * as fs from 'node:fs';
import * as path from 'node:path';
import { HostError } from '../../../src/host/host';
import { createLibc, type Libc } from '../../../src/host/libc';
import { createDiskFiles } from '../../../src/host/linux/disks';
import { all, write } from './disks-support';
import { eachOnMachine, type Machine, run } from './filesystems-machine';

const MIB = 1n << 20n;

let machine: Machine;
eachOnMachine((fresh) => {
  machine = fresh;
});

const allocated = (file: string) => BigInt(fs.statSync(file).blocks) * 512n;

/** The disk files of a machine whose libc differs in some calls. */
const disksWith = (changed: Partial<Libc>) => createDiskFiles({ libc: { ...createLibc(), ...changed } });

const fails = (errno: string) => () => Promise.reject(new HostError(errno, 'test', errno));

describe('ensureSize', () => {
  test('makes a sparse file, lengthens it and never shortens it', async () => {
    const { disks } = machine.host;
    const file = machine.at('file');
    await disks.ensureSize(file, 10n * MIB);
    expect(fs.statSync(file).size).toBe(Number(10n * MIB));
    expect(allocated(file)).toBe(0n);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    write(file, 5, Buffer.from('kept'));
    await disks.ensureSize(file, 1n << 42n);
    await disks.ensureSize(file, 4n);
    expect(fs.statSync(file).size).toBe(2 ** 42);
    expect(await all(disks.extents(file))).toEqual([{ offset: 0n, length: 4096n }]);
  });

  test('a size the filesystem cannot have is EFBIG and leaves no file', async () => {
    const { disks } = machine.host;
    for (const size of [1n << 60n, 2n ** 63n - 1n]) {
      await expect(disks.ensureSize(machine.at('file'), size)).rejects.toMatchObject({ errno: 'EFBIG' });
      expect(fs.existsSync(machine.at('file'))).toBe(false);
    }
    await disks.ensureSize(machine.at('file'), MIB);
    await expect(disks.ensureSize(machine.at('file'), 1n << 60n)).rejects.toMatchObject({ errno: 'EFBIG' });
    expect(fs.statSync(machine.at('file')).size).toBe(Number(MIB));
  });

  test('no folder is ENOENT', async () => {
    const made = machine.host.disks.ensureSize(machine.at('no/folder'), MIB);
    await expect(made).rejects.toMatchObject({
      errno: 'ENOENT',
      message: expect.stringContaining('no/folder'),
    });
  });
});

describe('copySparse', () => {
  /** 64 MiB with 5 MiB of data in two places. */
  async function source(): Promise<string> {
    const file = await machine.disk(64n * MIB);
    write(file, 4096, Buffer.alloc(1 << 20, 'a'));
    write(file, (40 << 20) + 4096, Buffer.alloc(4 << 20, 'b'));
    return file;
  }

  const ways: [string, Partial<Libc>][] = [
    ['as the filesystem likes it', {}],
    ['in the kernel', { ficlone: fails('EOPNOTSUPP') }],
    ['by reading and writing', { ficlone: fails('EXDEV'), copyFileRange: fails('EXDEV') }],
    [
      'by reading and writing, where the kernel copies nothing',
      { ficlone: fails('EINVAL'), copyFileRange: async () => 0 },
    ],
  ];
  test.each(ways)('copies bytes and holes, %s', async (_, changed) => {
    const disks = disksWith(changed);
    const from = await source();
    const to = machine.at('copy');
    await disks.copySparse(from, to);
    run('cmp', from, to);
    expect(fs.statSync(to).size).toBe(Number(64n * MIB));
    expect(await all(disks.extents(to))).toEqual(await all(disks.extents(from)));
    expect(fs.existsSync(`${to}.partial`)).toBe(false);
  });

  test.each(ways)('places beyond 4 GiB stay where they are, %s', async (_, changed) => {
    const disks = disksWith(changed);
    const from = await machine.disk(6n << 30n);
    const place = 5 * 2 ** 30 + 12_288;
    write(from, place, Buffer.from('far'));
    await disks.copySparse(from, machine.at('copy'));
    const copied = Buffer.alloc(3);
    const fd = fs.openSync(machine.at('copy'), 'r');
    fs.readSync(fd, copied, 0, 3, place);
    fs.closeSync(fd);
    expect(copied.toString()).toBe('far');
    expect(await all(disks.differences(from, machine.at('copy'), 4096))).toEqual([]);
  });

  test('from one filesystem to another', async () => {
    const from = await source();
    const to = path.join(await machine.tmpfs(8n * MIB), 'copy');
    await machine.host.disks.copySparse(from, to);
    run('cmp', from, to);
  });

  test('shares extents where the filesystem can', async () => {
    const file = await machine.formatted(200n * MIB, 'btrfs');
    await machine.mounted(file, 'btrfs', async (mountPoint) => {
      const from = path.join(mountPoint, 'from');
      fs.writeFileSync(from, Buffer.alloc(20 << 20, 'x'));
      await machine.host.mounts.sync(mountPoint);
      const before = (await machine.host.mounts.usage(mountPoint)).bytes.used;
      await machine.host.disks.copySparse(from, path.join(mountPoint, 'to'));
      await machine.host.mounts.sync(mountPoint);
      expect(run('cmp', from, path.join(mountPoint, 'to'))).toBe('');
      expect((await machine.host.mounts.usage(mountPoint)).bytes.used - before).toBeLessThan(MIB);
    });
  });

  test('an empty file, and over an older copy', async () => {
    const from = await machine.disk(0n);
    const to = machine.at('copy');
    fs.writeFileSync(to, 'older');
    fs.writeFileSync(`${to}.partial`, 'of a process that was killed');
    await machine.host.disks.copySparse(from, to);
    expect(fs.statSync(to).size).toBe(0);
    expect(fs.existsSync(`${to}.partial`)).toBe(false);
  });

  test('aborted on the way it leaves nothing, and an older target as it was', async () => {
    const from = await source();
    const to = machine.at('copy');
    const libc = createLibc();
    const controller = new AbortController();
    let calls = 0;
    const disks = disksWith({
      ficlone: fails('EOPNOTSUPP'),
      copyFileRange: (...args) => {
        if (++calls === 2) controller.abort(new Error('the client gave up'));
        return libc.copyFileRange(...args);
      },
    });
    await expect(disks.copySparse(from, to, controller.signal)).rejects.toThrow('the client gave up');
    expect(calls).toBe(2);
    expect(fs.existsSync(to) || fs.existsSync(`${to}.partial`)).toBe(false);
    fs.writeFileSync(to, 'older');
    await expect(disks.copySparse(from, to, controller.signal)).rejects.toThrow('the client gave up');
    expect(fs.readFileSync(to, 'utf8')).toBe('older');
    expect(fs.existsSync(`${to}.partial`)).toBe(false);
  });

  test('a full disk is ENOSPC and leaves nothing', async () => {
    const from = await source();
    const to = path.join(await machine.tmpfs(2n * MIB), 'copy');
    const copy = machine.host.disks.copySparse(from, to);
    await expect(copy).rejects.toMatchObject({ errno: 'ENOSPC' });
    expect(fs.readdirSync(path.dirname(to))).toEqual([]);
  });

  test('a source that is not there is ENOENT, and another copy under way is not disturbed', async () => {
    const to = machine.at('copy');
    fs.writeFileSync(`${to}.partial`, 'of another');
    const copy = machine.host.disks.copySparse(machine.at('nowhere'), to);
    await expect(copy).rejects.toMatchObject({ errno: 'ENOENT' });
    expect(fs.readFileSync(`${to}.partial`, 'utf8')).toBe('of another');
  });
});
