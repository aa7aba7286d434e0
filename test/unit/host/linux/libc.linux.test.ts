import {
  ftruncateSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostError } from '../../../../src/host/host';
import {
  AT,
  createLibc,
  decodeDevice,
  encodeDevice,
  errnoName,
  O,
  S_IF,
  SEEK,
} from '../../../../src/host/libc';
import { Limiter } from '../../../../src/host/libc/limiter';

describe('libc', () => {
  const libc = createLibc({ width: 4 });
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'libc-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('statx tells what fs.stat tells', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'twelve bytes');
    const ours = await libc.statx(file, AT.SYMLINK_NOFOLLOW);
    const theirs = statSync(file, { bigint: true });
    expect(ours.inode).toBe(theirs.ino);
    expect(ours.sizeBytes).toBe(12n);
    expect(ours.blocks).toBe(theirs.blocks);
    expect(BigInt(ours.mode)).toBe(theirs.mode);
    expect(ours.device).toEqual(decodeDevice(theirs.dev));
    expect(ours.mountId).toBeGreaterThan(0n);
  });

  test('statx reports a link itself when told not to follow', async () => {
    const link = join(folder, 'link');
    symlinkSync('/nowhere', link);
    expect((await libc.statx(link, AT.SYMLINK_NOFOLLOW)).mode & S_IF.MT).toBe(S_IF.LNK);
    await expect(libc.statx(link, 0)).rejects.toMatchObject({ errno: 'ENOENT' });
  });

  test('a failure names the operation, the path, the errno and its meaning', async () => {
    const failure = await libc.statx('/no/such/path', 0).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(HostError);
    expect(failure).toMatchObject({
      errno: 'ENOENT',
      operation: 'statx',
      message: 'statx: /no/such/path: ENOENT (no such file or directory)',
    });
  });

  test('each of many calls at once gets its own errno', async () => {
    const file = join(folder, 'plain');
    writeFileSync(file, '');
    const calls = Array.from({ length: 600 }, (_, index) =>
      libc
        .open(index % 2 === 0 ? join(folder, 'absent') : join(file, 'below-a-file'), O.RDONLY)
        .catch((error: unknown) => (error as HostError).errno),
    );
    const seen = await Promise.all(calls);
    expect(seen.filter((_, index) => index % 2 === 0)).toEqual(Array(300).fill('ENOENT'));
    expect(seen.filter((_, index) => index % 2 === 1)).toEqual(Array(300).fill('ENOTDIR'));
  });

  test('a NUL in a path is refused before it can cut the path short', async () => {
    await expect(libc.open(`${folder}\0/evil`, O.RDONLY)).rejects.toMatchObject({ errno: 'EINVAL' });
  });

  test('lseek finds data and holes', async () => {
    const file = join(folder, 'sparse');
    const fd = await libc.open(file, O.RDWR | O.CREAT | O.CLOEXEC, 0o600);
    try {
      ftruncateSync(fd, 4 << 20);
      writeSync(fd, Buffer.alloc(4096, 1), 0, 4096, 1 << 20);
      const data = await libc.lseek(fd, 0n, SEEK.DATA);
      expect(data).toBe(1n << 20n);
      expect(await libc.lseek(fd, data, SEEK.HOLE)).toBe((1n << 20n) + 4096n);
      await expect(libc.lseek(fd, 2n << 20n, SEEK.DATA)).rejects.toMatchObject({ errno: 'ENXIO' });
    } finally {
      await libc.close(fd);
    }
  });

  test('copyFileRange copies at offsets past 2^32', async () => {
    const source = await libc.open(join(folder, 'source'), O.RDWR | O.CREAT, 0o600);
    const target = await libc.open(join(folder, 'target'), O.RDWR | O.CREAT, 0o600);
    try {
      writeSync(source, 'hello', 0);
      const far = 5n << 32n;
      expect(await libc.copyFileRange(source, 0n, target, far, 5)).toBe(5);
      const back = Buffer.alloc(5);
      readSync(target, back, { position: far });
      expect(back.toString()).toBe('hello');
    } finally {
      await libc.close(source);
      await libc.close(target);
    }
  });

  test('close closes', async () => {
    const fd = await libc.open('/dev/null', O.RDONLY | O.CLOEXEC);
    await libc.close(fd);
    await expect(libc.close(fd)).rejects.toMatchObject({ errno: 'EBADF' });
  });

  test('statfs of /proc says what fs.statfs says', async () => {
    expect((await libc.statfs('/proc')).type).toBe(0x9fa0n);
  });

  test('ioctls say which ioctl failed and on what', async () => {
    const fd = openSync('/dev/null', 'r');
    const about = { operation: 'FITHAW', subject: '/dev/null' };
    await expect(libc.ioctl(fd, 0xc0045878, 0, about)).rejects.toMatchObject({
      operation: 'FITHAW',
      message: expect.stringContaining('FITHAW: /dev/null: E'),
    });
    expect(() => libc.ioctlSync(fd, 0x4c05, Buffer.alloc(232))).toThrow(/ENOTTY/);
    await libc.close(fd);
  });

  test('koffi is loaded by the first call, not before', async () => {
    let loads = 0;
    jest.doMock('koffi', () => {
      loads++;
      return jest.requireActual('koffi');
    });
    await jest.isolateModulesAsync(async () => {
      const fresh: { createLibc: typeof createLibc } = require('../../../../src/host/libc');
      const lazy = fresh.createLibc();
      expect(loads).toBe(0);
      await lazy.statfs('/');
      expect(loads).toBe(1);
    });
    jest.dontMock('koffi');
  });
});

test.each([
  [{ major: 7, minor: 3 }],
  [{ major: 259, minor: 0 }],
  [{ major: 7, minor: 1000 }],
  [{ major: 4095, minor: 0xfffff }],
])('a device number %j survives encoding', (device) => {
  expect(decodeDevice(BigInt(encodeDevice(device)))).toEqual(device);
});

test('an errno unknown to us keeps its number', () => {
  expect(errnoName(16)).toBe('EBUSY');
  expect(errnoName(117)).toBe('EUCLEAN');
  expect(errnoName(4000)).toBe('ERRNO_4000');
});

describe('Limiter', () => {
  test('runs no more than its width at once, in order of arrival', async () => {
    const limiter = new Limiter(2);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const tasks = Array.from({ length: 10 }, (_, index) =>
      limiter.run(async () => {
        order.push(index);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
      }),
    );
    await Promise.all(tasks);
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('a failed task gives its place back', async () => {
    const limiter = new Limiter(1);
    await expect(limiter.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(limiter.run(() => Promise.resolve('next'))).resolves.toBe('next');
  });
});
