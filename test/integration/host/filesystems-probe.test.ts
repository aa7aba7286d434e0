import * as fs from 'node:fs';
import * as path from 'node:path';
import { createLibc } from '../../../src/host/libc';
import { eachOnMachine, type Machine, run } from './filesystems-machine';

const MIB = 1n << 20n;

let machine: Machine;
eachOnMachine((fresh) => {
  machine = fresh;
});

const probe = (disk: string) => machine.host.filesystems.probe(disk);

function overwrite(file: string, offset: number, bytes: Buffer): void {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, bytes, 0, bytes.length, offset);
  fs.closeSync(fd);
}

test('ext2, ext3 and an ext4 without journal or checksums are told apart as blkid does', async () => {
  for (const args of [
    ['-t', 'ext2'],
    ['-t', 'ext3'],
    ['-t', 'ext4'],
    ['-t', 'ext4', '-O', '^has_journal,^metadata_csum'],
    ['-t', 'ext4', '-b', '1024', '-O', '64bit'],
  ]) {
    const file = await machine.disk(32n * MIB);
    run('mkfs.ext4', '-q', '-F', ...args, file);
    const told = Object.fromEntries(
      run('blkid', '-p', '-o', 'export', file)
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
    expect(await probe(file)).toEqual({
      kind: 'filesystem',
      fsType: told.TYPE,
      uuid: told.UUID,
      sizeBytes: 32n * MIB,
      blockSize: Number(told.BLOCK_SIZE),
    });
  }
});

test('swap space is named, and no filesystem', async () => {
  const file = await machine.disk(16n * MIB);
  run('mkswap', file);
  expect(await probe(file)).toEqual({ kind: 'unknown', what: 'swap space' });
});

test('a block device is probed as its file is: blank, formatted, damaged', async () => {
  const file = await machine.disk(64n * MIB);
  const device = await machine.device(file);
  expect(await probe(device.path)).toEqual({ kind: 'blank' });
  const formatted = await machine.formatted(64n * MIB, 'ext4');
  const other = await machine.device(formatted);
  expect(await probe(other.path)).toEqual(await probe(formatted));
  overwrite(formatted, 1024 + 0x70, Buffer.from('damage'));
  const damaged = { kind: 'unknown', what: 'ext4 with a superblock checksum that does not match' };
  expect(await probe(formatted)).toEqual(damaged);
  const third = await machine.device(formatted);
  expect(await probe(third.path)).toEqual(damaged);
});

describe('a disk that fails', () => {
  /** _IOR('X', 125, __u32), of ext4 and xfs; 2: without writing the log. Whatever is read afterwards is EIO. */
  const SHUTDOWN = 0x8004587d;
  const libc = createLibc();

  /** A device on a file whose filesystem fails once `fail` was called. */
  async function failing(
    fill: (file: string) => Promise<void>,
    use: (disk: { device: string; file: string; fail: () => Promise<void> }) => Promise<void>,
  ): Promise<void> {
    const outer = await machine.formatted(256n * MIB, 'ext4');
    await machine.mounted(outer, 'ext4', async (mountPoint) => {
      const file = path.join(mountPoint, 'disk');
      await machine.host.disks.ensureSize(file, 64n * MIB);
      await fill(file);
      await machine.host.mounts.sync(mountPoint);
      const device = await machine.host.loops.attach(file, { readOnly: false, autoclear: false });
      const fd = fs.openSync(mountPoint, 'r');
      const fail = async () => {
        await libc.ioctl(fd, SHUTDOWN, Buffer.from([2, 0, 0, 0]));
      };
      try {
        await use({ device: device.path, file, fail });
      } finally {
        fs.closeSync(fd);
        await device.release();
        await machine.host.loops.detach(device.index);
      }
    });
  }

  /** Has the kernel remember the first 128 KiB of a device, which it can then answer without its file. */
  function readAhead(device: string): void {
    const fd = fs.openSync(device, 'r');
    fs.readSync(fd, Buffer.alloc(128 * 1024), 0, 128 * 1024, 0);
    fs.closeSync(fd);
  }

  const format = (file: string) => machine.host.filesystems.format(file, 'ext4');
  const nothing = async () => undefined;

  test.each([
    ['formatted', format],
    ['blank', nothing],
  ])('is an error and never blank, whether it was %s', async (_, fill) => {
    await failing(fill, async ({ device, file, fail }) => {
      await fail();
      await expect(probe(device)).rejects.toMatchObject({
        errno: 'EIO',
        operation: 'probe',
        message: expect.stringMatching(/cannot read .* at byte 0: EIO .*not taken for blank/),
      });
      await expect(probe(file)).rejects.toMatchObject({ errno: 'EIO' });
      await expect(format(file)).rejects.toMatchObject({ errno: 'EIO' });
    });
  });

  test('behind a superblock that can be read is still that filesystem', async () => {
    await failing(format, async ({ device, fail }) => {
      const whole = await probe(device);
      expect(whole).toMatchObject({ fsType: 'ext4' });
      readAhead(device);
      await fail();
      expect(await probe(device)).toEqual(whole);
    });
  });

  test('behind zeros that can be read is an error, never blank', async () => {
    await failing(nothing, async ({ device, fail }) => {
      readAhead(device);
      await fail();
      await expect(probe(device)).rejects.toMatchObject({
        errno: 'EIO',
        message: expect.stringMatching(/at byte [1-9]/),
      });
    });
  });
});

test('a blank device of a terabyte is not read from end to end', async () => {
  const file = await machine.disk(1n << 40n);
  const device = await machine.device(file);
  const sectorsRead = () =>
    Number(fs.readFileSync(`/sys/block/loop${device.index}/stat`, 'utf8').trim().split(/\s+/)[2]);
  const before = sectorsRead();
  expect(await probe(device.path)).toEqual({ kind: 'blank' });
  expect((sectorsRead() - before) * 512).toBeLessThan(32 << 20);
});

test.each([0, 1, 511, 512, 1023, 2048, 65536])(
  'a file of %d bytes is blank, or unknown when something is in it',
  async (size) => {
    const file = machine.at('short');
    fs.writeFileSync(file, Buffer.alloc(size));
    expect(await probe(file)).toEqual({ kind: 'blank' });
    fs.appendFileSync(file, 'x');
    expect(await probe(file)).toMatchObject({ kind: 'unknown' });
  },
);

test('written zeros are blank', async () => {
  const file = await machine.disk(64n * MIB);
  for (let offset = 0; offset < 24; offset++) overwrite(file, offset << 20, Buffer.alloc(1 << 20));
  expect(await probe(file)).toEqual({ kind: 'blank' });
  overwrite(file, 7 << 20, Buffer.from([1]));
  expect(await probe(file)).toEqual({ kind: 'unknown', what: 'data of no filesystem we know' });
});

test('what is no disk is refused, at once', async () => {
  const fifo = machine.at('fifo');
  run('mkfifo', fifo);
  await expect(probe(fifo)).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(probe(machine.folder)).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(probe('/dev/null')).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(probe(path.join(machine.folder, 'nowhere'))).rejects.toMatchObject({ errno: 'ENOENT' });
});
