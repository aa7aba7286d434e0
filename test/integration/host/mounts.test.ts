import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { decodeDevice } from '../../../src/host/libc';
import { describeMounting } from './mounts-support';

const TMPFS = { fsType: 'tmpfs', source: 'tmpfs', readOnly: false, options: ['size=8m'] };

describeMounting('mounts', (workspace) => {
  const { mounts, makeFolder, makeFile, folder } = workspace;

  describe('at', () => {
    test('a plain folder, a file and a missing path are no mounts', async () => {
      expect(await mounts.at(makeFolder('plain'))).toBeNull();
      expect(await mounts.at(makeFile('file'))).toBeNull();
      expect(await mounts.at(join(folder, 'absent/below'))).toBeNull();
      expect(await mounts.at(join(makeFile('file'), 'below'))).toBeNull();
    });

    test('a mount is named by its device, root and mount id, as the mount table has them', async () => {
      const target = makeFolder('at');
      await mounts.mount({ ...TMPFS, target });
      const [entry] = (await mounts.list()).filter(({ mountPoint }) => mountPoint === target);
      const stat = statSync(target, { bigint: true });
      expect(await mounts.at(target)).toEqual({
        device: decodeDevice(stat.dev),
        rootInode: stat.ino,
        mountId: entry?.mountId,
        readOnly: false,
      });
      expect(entry?.device).toEqual(decodeDevice(stat.dev));
      mkdirSync(join(target, 'inside'));
      expect(await mounts.at(join(target, 'inside'))).toBeNull();
      await mounts.unmount(target);
      expect(await mounts.at(target)).toBeNull();
    });

    test('a link to a mount is not one', async () => {
      const target = makeFolder('linked');
      const link = join(folder, 'link-to-mount');
      symlinkSync(target, link);
      await mounts.mount({ ...TMPFS, target });
      expect(await mounts.at(link)).toBeNull();
      await mounts.unmount(target);
    });

    test('a mount that is read-only, and one of a superblock that is, say so', async () => {
      const target = makeFolder('ro');
      await mounts.mount({ ...TMPFS, target, readOnly: true });
      expect(await mounts.at(target)).toMatchObject({ readOnly: true });
      await mounts.unmount(target);
      await mounts.mount({ ...TMPFS, target, options: ['rw', 'ro'] });
      expect(await mounts.at(target)).toMatchObject({ readOnly: true });
      await mounts.unmount(target);
    });
  });

  describe('bind', () => {
    test('of a folder shows the same root, and one mount more', async () => {
      const source = makeFolder('bind-source');
      const target = makeFolder('bind-target');
      writeFileSync(join(source, 'seen'), 'through the bind');
      await mounts.bind({ source, target, readOnly: false, options: [] });
      expect(readFileSync(join(target, 'seen'), 'utf8')).toBe('through the bind');
      expect(await mounts.at(target)).toMatchObject({ rootInode: statSync(source, { bigint: true }).ino });
      await mounts.unmount(target);
    });

    test('of a stage mount is the same filesystem as the stage', async () => {
      const stage = makeFolder('stage');
      const target = makeFolder('publish');
      await mounts.mount({ ...TMPFS, target: stage });
      await mounts.bind({ source: stage, target, readOnly: true, options: [] });
      const [staged, published] = [await mounts.at(stage), await mounts.at(target)];
      expect(published).toEqual({ ...staged, mountId: published?.mountId, readOnly: true });
      expect(published?.mountId).not.toBe(staged?.mountId);
      expect(() => writeFileSync(join(target, 'x'), '')).toThrow(/EROFS/);
      writeFileSync(join(stage, 'x'), '');
      await mounts.unmount(target);
      await mounts.unmount(stage);
    });

    test('takes per-mount words, each by itself, and ignores those of a superblock', async () => {
      const source = makeFolder('words-source');
      const target = makeFolder('words-target');
      const options = ['noexec', 'nosuid', 'nodev', 'noatime', 'sync', 'data=journal'];
      await mounts.bind({ source, target, readOnly: false, options });
      const entry = (await mounts.list()).find(({ mountPoint }) => mountPoint === target);
      expect(entry?.options).toEqual(expect.arrayContaining(['rw', 'noexec', 'nosuid', 'nodev', 'noatime']));
      await mounts.unmount(target);
    });

    test('keeps the flags of its source, and takes those back that a word takes back', async () => {
      const source = makeFolder('kept-source');
      const target = makeFolder('kept-target');
      const optionsAt = async () =>
        (await mounts.list()).find((entry) => entry.mountPoint === target)?.options;
      await mounts.mount({ ...TMPFS, target: source, options: ['noexec', 'nodev'] });
      await mounts.bind({ source, target, readOnly: false, options: [] });
      expect(await optionsAt()).toEqual(expect.arrayContaining(['noexec', 'nodev']));
      await mounts.unmount(target);
      await mounts.bind({ source, target, readOnly: false, options: ['exec'] });
      expect(await optionsAt()).toEqual(expect.not.arrayContaining(['noexec']));
      expect(await optionsAt()).toContain('nodev');
      await mounts.unmount(target);
      await mounts.unmount(source);
    });

    test('of a device node onto a file is the device', async () => {
      const target = makeFile('device-target');
      await mounts.bind({ source: '/dev/zero', target, readOnly: false, options: [] });
      expect(statSync(target).rdev).toBe(statSync('/dev/zero').rdev);
      expect(await mounts.at(target)).toMatchObject({
        rootInode: statSync('/dev/zero', { bigint: true }).ino,
      });
      await mounts.unmount(target);
      expect(statSync(target).isFile()).toBe(true);
    });

    test('never mounts on a link, nor on what it points to', async () => {
      const real = makeFolder('link-target');
      const link = join(folder, 'bind-link');
      symlinkSync(real, link);
      const onLink = { target: link, readOnly: false, options: [] };
      await expect(mounts.bind({ source: makeFolder('f'), ...onLink })).rejects.toMatchObject({
        errno: 'ELOOP',
      });
      await expect(mounts.bind({ source: '/dev/zero', ...onLink })).rejects.toMatchObject({ errno: 'ELOOP' });
    });

    test('says what is missing or of the wrong kind', async () => {
      const source = makeFolder('kinds');
      const request = { readOnly: false, options: [] };
      const absent = join(folder, 'absent');
      await expect(mounts.bind({ ...request, source, target: absent })).rejects.toMatchObject({
        errno: 'ENOENT',
        message: expect.stringMatching(/absent.*mount point does not exist/),
      });
      await expect(mounts.bind({ ...request, source: absent, target: source })).rejects.toMatchObject({
        errno: 'ENOENT',
        message: expect.stringMatching(/of .*absent: the source does not exist/),
      });
      await expect(mounts.bind({ ...request, source, target: makeFile('a-file') })).rejects.toMatchObject({
        errno: 'ENOTDIR',
      });
      await expect(mounts.bind({ ...request, source: '/dev/zero', target: source })).rejects.toMatchObject({
        errno: 'ENOTDIR',
      });
    });

    test('read-only is never writable, not even briefly', async () => {
      const source = makeFolder('never-source');
      const target = makeFolder('never-target');
      writeFileSync(join(source, 'probe'), '');
      const writer = await startWriter(join(target, 'probe'));
      try {
        for (let round = 0; round < 100; round++) {
          await mounts.bind({ source, target, readOnly: true, options: [] });
          await writer.seesRefusal();
          // Lazily: the thread may be at the mount right now.
          await mounts.unmount(target, { lazy: true });
        }
      } finally {
        await writer.stop();
      }
      expect(writer.written()).toBe(0);
    });
  });

  describe('unmount', () => {
    test('takes the topmost of two mounts, and a third time says that nothing is there', async () => {
      const target = makeFolder('stacked');
      await mounts.mount({ ...TMPFS, target });
      const lower = await mounts.at(target);
      await mounts.mount({ ...TMPFS, target });
      await mounts.unmount(target);
      expect(await mounts.at(target)).toEqual(lower);
      await mounts.unmount(target);
      await expect(mounts.unmount(target)).rejects.toMatchObject({
        errno: 'EINVAL',
        operation: 'umount2',
        message: expect.stringMatching(/stacked.*nothing is mounted there/),
      });
      await expect(mounts.unmount(join(folder, 'absent'))).rejects.toMatchObject({ errno: 'ENOENT' });
    });

    test('of a mount in use is EBUSY; lazily it goes at once', async () => {
      const target = makeFolder('busy');
      await mounts.mount({ ...TMPFS, target });
      const fd = await workspace.libc.open(makeFileIn(target, 'held'), 0);
      await expect(mounts.unmount(target)).rejects.toMatchObject({
        errno: 'EBUSY',
        message: expect.stringMatching(/in use/),
      });
      await mounts.unmount(target, { lazy: true });
      expect(await mounts.at(target)).toBeNull();
      await workspace.libc.close(fd);
    });

    test('does not follow a link', async () => {
      const target = makeFolder('not-followed');
      const link = join(folder, 'unmount-link');
      symlinkSync(target, link);
      await mounts.mount({ ...TMPFS, target });
      await expect(mounts.unmount(link)).rejects.toMatchObject({ errno: 'EINVAL' });
      await expect(mounts.unmount(link, { lazy: true })).rejects.toMatchObject({ errno: 'EINVAL' });
      expect(await mounts.at(target)).not.toBeNull();
      await mounts.unmount(target);
    });
  });

  test('list holds 300 mounts, with paths that need escapes', async () => {
    const source = makeFolder('many-source');
    const targets = Array.from({ length: 300 }, (_, index) => makeFolder(`many/odd \\ näme\t${index}`));
    await Promise.all(targets.map((target) => mounts.bind({ source, target, readOnly: true, options: [] })));
    const table = await mounts.list();
    const found = table.filter(({ mountPoint }) => targets.includes(mountPoint));
    expect(found).toHaveLength(300);
    expect(found.every(({ options }) => options.includes('ro'))).toBe(true);
    for (const { mountPoint, mountId } of found.slice(0, 20)) {
      expect(await mounts.at(mountPoint)).toMatchObject({ mountId });
    }
    await Promise.all(targets.map((target) => mounts.unmount(target)));
  });

  test('usage counts what is used and never more than there is', async () => {
    const target = makeFolder('usage');
    await mounts.mount({ ...TMPFS, target, options: ['size=4m', 'nr_inodes=100'] });
    writeFileSync(join(target, 'megabyte'), Buffer.alloc(1 << 20));
    const { bytes, inodes } = await mounts.usage(target);
    expect(bytes).toEqual({ total: 4n << 20n, used: 1n << 20n, available: 3n << 20n });
    expect(inodes).toEqual({ total: 100n, used: 2n, available: 98n });
    await mounts.unmount(target);
  });

  test('a tmpfs is resized in place, keeps its flags, and never below what it holds', async () => {
    const target = makeFolder('resize');
    await mounts.mount({ ...TMPFS, target, options: ['size=4m', 'noexec', 'noatime'] });
    writeFileSync(join(target, 'held'), Buffer.alloc(2 << 20));
    await mounts.resizeTmpfs(target, 16n << 20n);
    expect((await mounts.usage(target)).bytes.total).toBe(16n << 20n);
    await expect(mounts.resizeTmpfs(target, 1n << 20n)).rejects.toMatchObject({
      errno: expect.stringMatching(/^(EINVAL|ENOSPC)$/),
      message: expect.stringContaining(target),
    });
    expect((await mounts.usage(target)).bytes.total).toBe(16n << 20n);
    const entry = (await mounts.list()).find(({ mountPoint }) => mountPoint === target);
    expect(entry?.options).toEqual(expect.arrayContaining(['rw', 'noexec', 'noatime']));
    await mounts.unmount(target);
    await expect(mounts.resizeTmpfs(target, 1n << 20n)).rejects.toMatchObject({ errno: 'EINVAL' });
  });

  test('sync takes a folder, a file and a device node', async () => {
    await mounts.sync(makeFolder('synced'));
    await mounts.sync(makeFile('synced-file'));
    await expect(mounts.sync(join(folder, 'absent'))).rejects.toMatchObject({ errno: 'ENOENT' });
    const device = await workspace.attachDisk('sync.img', null, 1);
    await mounts.sync(device.path);
    await device.release();
  });
});

function makeFileIn(folder: string, name: string): string {
  writeFileSync(join(folder, name), '');
  return join(folder, name);
}

/** A thread that tries to open `file` for writing as fast as it can (a bind made in two steps is caught by it). */
async function startWriter(file: string) {
  const state = new Int32Array(new SharedArrayBuffer(12));
  const [STOP, REFUSED, WRITTEN] = [0, 1, 2];
  const worker = new Worker(
    `const { workerData: { file, state } } = require('node:worker_threads');
     const { openSync, closeSync } = require('node:fs');
     while (Atomics.load(state, ${STOP}) === 0) {
       try { closeSync(openSync(file, 'r+')); Atomics.add(state, ${WRITTEN}, 1); }
       catch (error) { if (error.code === 'EROFS') { Atomics.add(state, ${REFUSED}, 1); Atomics.notify(state, ${REFUSED}); } }
     }`,
    { eval: true, workerData: { file, state } },
  );
  await new Promise((resolve) => worker.once('online', resolve));
  return {
    /** Waits until the thread was refused once more: it has then looked at the mount. */
    async seesRefusal() {
      const before = Atomics.load(state, REFUSED);
      while (Atomics.load(state, REFUSED) === before && Atomics.load(state, WRITTEN) === 0) {
        await new Promise(setImmediate);
      }
    },
    written: () => Atomics.load(state, WRITTEN),
    async stop() {
      Atomics.store(state, STOP, 1);
      await new Promise((resolve) => worker.once('exit', resolve));
    },
  };
}
