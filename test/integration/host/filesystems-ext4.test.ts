import * as fs from 'node:fs';
import * as path from 'node:path';
import { HostError } from '../../../src/host/host';
import { createLibc } from '../../../src/host/libc';
import { createFilesystems } from '../../../src/host/linux/filesystems';
import { createToolRunner, type ToolRun } from '../../../src/host/linux/filesystems-tools';
import { until } from '../../support/until';
import { checkExt4, eachOnMachine, type Machine, run } from './filesystems-machine';

const KIB = 1024n;
const MIB = 1024n * KIB;
const GIB = 1024n * MIB;

let machine: Machine;
eachOnMachine((fresh) => {
  machine = fresh;
});

/** Filesystems of this machine that write down each mkfs they run. */
function counted() {
  const forks: ToolRun[] = [];
  const runTool = createToolRunner();
  const filesystems = createFilesystems({
    libc: createLibc(),
    cacheDir: machine.at('counted'),
    runTool: (tool, options) => {
      forks.push(options);
      return runTool(tool, options);
    },
  });
  return { filesystems, forks };
}

test.each([256n * KIB, 256n * KIB + 1n, MIB + 1n, 16n * MIB, 16n * MIB + 100n, 129n * MIB, GIB + 3n * KIB])(
  'a format of %d bytes is sound before use, in use and after it',
  async (sizeBytes) => {
    const { filesystems } = machine.host;
    const file = await machine.formatted(sizeBytes, 'ext4');
    checkExt4(file);
    const found = await filesystems.probe(file);
    expect(found).toMatchObject({ kind: 'filesystem', fsType: 'ext4' });
    if (found.kind === 'filesystem') {
      // mke2fs leaves a rest unused that is no whole block, or too short a last group.
      expect(sizeBytes - found.sizeBytes).toBeGreaterThanOrEqual(0n);
      expect(found.sizeBytes).toBeGreaterThanOrEqual((sizeBytes * 9n) / 10n);
    }
    await machine.mounted(file, 'ext4', async (mountPoint) => {
      fs.writeFileSync(path.join(mountPoint, 'file'), Buffer.alloc(64 * 1024, 'x'));
      const usage = await machine.host.mounts.usage(mountPoint);
      expect(usage.inodes.available).toBeGreaterThan(10n);
    });
    checkExt4(file);
    await machine.mounted(file, 'ext4', async (mountPoint) => {
      expect(fs.readFileSync(path.join(mountPoint, 'file')).equals(Buffer.alloc(64 * 1024, 'x'))).toBe(true);
    });
  },
);

test('each has a UUID of its own, in every copy of the superblock, and the label asked for', async () => {
  const { filesystems } = machine.host;
  const uuids = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const file = await machine.disk(GIB);
    await filesystems.format(file, 'ext4', { label: `volume ${i}` });
    const primary = run('dumpe2fs', '-h', file);
    const uuid = /Filesystem UUID: +(\S+)/.exec(primary)?.[1] ?? 'none';
    expect(primary).toMatch(new RegExp(`Filesystem volume name: +volume ${i}\n`));
    for (const group of [1, 3, 5, 7]) {
      const backup = run('dumpe2fs', '-h', '-o', `superblock=${group * 32768}`, '-o', 'blocksize=4096', file);
      expect(backup).toContain(uuid);
    }
    expect(await filesystems.probe(file)).toMatchObject({ uuid });
    uuids.add(uuid);
  }
  expect(uuids.size).toBe(3);
});

test('a file repaired from its backup superblock is the same filesystem', async () => {
  const file = await machine.formatted(GIB, 'ext4');
  const before = await machine.host.filesystems.probe(file);
  const handle = fs.openSync(file, 'r+');
  fs.writeSync(handle, Buffer.alloc(4096), 0, 4096, 0);
  fs.closeSync(handle);
  expect(await machine.host.filesystems.probe(file)).toEqual({
    kind: 'unknown',
    what: 'data of no filesystem we know',
  });
  const repair = { args: ['-fy', '-b', '32768', '-B', '4096', file], timeoutMs: 60_000, success: [1] };
  await createToolRunner()('e2fsck', repair);
  expect(await machine.host.filesystems.probe(file)).toEqual(before);
});

test('formats of one size share one mkfs, also while it still runs', async () => {
  const { filesystems, forks } = counted();
  const files = await Promise.all(Array.from({ length: 8 }, () => machine.disk(16n * MIB)));
  await Promise.all(files.map((file) => filesystems.format(file, 'ext4')));
  expect(forks).toHaveLength(1);
  for (const file of files) checkExt4(file);
  const found = await Promise.all(files.map((file) => filesystems.probe(file)));
  expect(new Set(found.map((result) => result.kind === 'filesystem' && result.uuid)).size).toBe(8);
  expect(fs.readdirSync(machine.at('counted'))).toEqual([]);
});

test('only the eight sizes used last are kept', async () => {
  const { filesystems, forks } = counted();
  const format = async (mebibytes: bigint) => filesystems.format(await machine.disk(mebibytes * MIB), 'ext4');
  for (let size = 4n; size < 12n; size++) await format(size);
  await format(4n);
  expect(forks).toHaveLength(8);
  await format(12n);
  await format(4n);
  expect(forks).toHaveLength(9);
  await format(5n);
  expect(forks).toHaveLength(10);
});

test('a filesystem too large for a template in memory is made all the same', async () => {
  const { filesystems, forks } = counted();
  for (let i = 0; i < 2; i++) {
    const file = await machine.disk(300n * GIB);
    await filesystems.format(file, 'ext4');
    checkExt4(file);
  }
  expect(forks).toHaveLength(2);
});

test('an older mkfs that does not know a prezeroed disk is asked in its own words, once', async () => {
  const runTool = createToolRunner();
  const asked: string[] = [];
  const filesystems = createFilesystems({
    libc: createLibc(),
    cacheDir: machine.at('older'),
    runTool: async (tool, options) => {
      asked.push(options.args.join(' '));
      if (asked.at(-1)?.includes('assume_storage_prezeroed')) {
        throw new HostError('TOOL', tool, `${tool} exited with 1: Bad option(s) specified`);
      }
      await runTool(tool, options);
    },
  });
  for (const size of [8n, 9n]) {
    const file = await machine.disk(size * MIB);
    await filesystems.format(file, 'ext4');
    checkExt4(file);
  }
  expect(asked.map((args) => args.includes('prezeroed'))).toEqual([true, false, false]);
});

test('an mkfs that fails says why, and the next format tries anew', async () => {
  let broken = true;
  const runTool = createToolRunner();
  const filesystems = createFilesystems({
    libc: createLibc(),
    cacheDir: machine.at('broken'),
    runTool: async (tool, options) => {
      if (broken)
        throw new HostError('ENOENT', tool, `${tool} is not installed here; install the package e2fsprogs`);
      await runTool(tool, options);
    },
  });
  const file = await machine.disk(8n * MIB);
  await expect(filesystems.format(file, 'ext4')).rejects.toMatchObject({
    errno: 'ENOENT',
    message: expect.stringContaining('e2fsprogs'),
  });
  broken = false;
  await filesystems.format(file, 'ext4');
  checkExt4(file);
});

test('a format that could not be finished leaves nothing that looks like a filesystem', async () => {
  const small = await machine.tmpfs(64n * KIB);
  const file = await machine.disk(64n * MIB, small);
  await expect(machine.host.filesystems.format(file, 'ext4')).rejects.toMatchObject({ errno: 'ENOSPC' });
  const found = await machine.host.filesystems.probe(file);
  expect(found).toEqual({ kind: 'unknown', what: 'data of no filesystem we know' });
});

test('what is not a blank file of sufficient size is refused and left as it is', async () => {
  const { filesystems } = machine.host;
  const file = await machine.formatted(16n * MIB, 'ext4');
  const before = fs.readFileSync(file);
  await expect(filesystems.format(file, 'ext4')).rejects.toMatchObject({
    errno: 'EEXIST',
    message: expect.stringMatching(/is not blank, it holds ext4 [0-9a-f-]{36}. Nothing was written/),
  });
  expect(fs.readFileSync(file).equals(before)).toBe(true);

  const short = await machine.disk(filesystems.minimumBytes('ext4') - 1n);
  await expect(filesystems.format(short, 'ext4')).rejects.toMatchObject({ errno: 'EINVAL' });
  const label = 'a label of ext4 has sixteen bytes';
  await expect(filesystems.format(file, 'ext4', { label })).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(filesystems.format(machine.folder, 'ext4')).rejects.toMatchObject({ errno: 'EISDIR' });
  await expect(filesystems.format(machine.at('nowhere'), 'ext4')).rejects.toMatchObject({ errno: 'ENOENT' });
});

test('nothing in the cache folder has a name at any moment, so that a kill leaves nothing', async () => {
  const { filesystems } = counted();
  const folder = machine.at('counted');
  fs.mkdirSync(folder);
  const seen: (string | null)[] = [];
  const watcher = fs.watch(folder, (_event, name) => seen.push(name));
  try {
    const file = machine.at('disk');
    fs.writeFileSync(file, '');
    fs.truncateSync(file, Number(16n * MIB));
    await filesystems.format(file, 'ext4');
    fs.writeFileSync(path.join(folder, 'last'), '');
    // The kernel tells of what happened in its order.
    await until('the last name is told of', () => seen.includes('last'));
    // A file without a name is told of by its inode, as #123.
    expect(seen.filter((name) => !/^#\d+$/.test(name ?? ''))).toEqual(seen.filter((name) => name === 'last'));
  } finally {
    watcher.close();
  }
});
