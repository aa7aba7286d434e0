import * as fs from 'node:fs';
import * as path from 'node:path';
import { Machine, run, testWith } from './filesystems-machine';

const MIB = 1n << 20n;
const rootTest = testWith();

let machine: Machine;

beforeEach(() => {
  machine = new Machine();
});

afterEach(() => machine.close());

const probe = (disk: string) => machine.host.filesystems.probe(disk);

function overwrite(file: string, offset: number, bytes: Buffer): void {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, bytes, 0, bytes.length, offset);
  fs.closeSync(fd);
}

testWith('mkfs.ext4')(
  'ext2, ext3 and an ext4 without journal or checksums are told apart as blkid does',
  async () => {
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
  },
);

testWith('mkswap')('swap space is named, and no filesystem', async () => {
  const file = await machine.disk(16n * MIB);
  run('mkswap', file);
  expect(await probe(file)).toEqual({ kind: 'unknown', what: 'swap space' });
});

rootTest('a block device is probed as its file is: blank, formatted, damaged', async () => {
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

rootTest('a device that answers EIO is an error, never blank', async () => {
  const file = await machine.formatted(64n * MIB, 'ext4');
  const device = await machine.device(file);
  // The device keeps its size; what lies behind the end of its file cannot be read.
  fs.truncateSync(file, 0);
  await expect(probe(device.path)).rejects.toMatchObject({
    errno: 'EIO',
    operation: 'probe',
    message: expect.stringMatching(/cannot read .* at byte 0: EIO .*not taken for blank/),
  });
});

rootTest('a device whose superblock can be read but whose rest cannot is still that filesystem', async () => {
  const file = await machine.formatted(64n * MIB, 'ext4');
  const device = await machine.device(file);
  const whole = await probe(device.path);
  fs.truncateSync(file, 1 << 20);
  expect(await probe(device.path)).toEqual(whole);
});

rootTest('a device with zeros first and an unreadable rest is an error, never blank', async () => {
  const file = await machine.disk(64n * MIB);
  const device = await machine.device(file);
  fs.truncateSync(file, 1 << 20);
  await expect(probe(device.path)).rejects.toMatchObject({ errno: 'EIO' });
});

rootTest.each([0, 1, 511, 512, 1023, 2048, 65536])(
  'a file of %d bytes is blank, or unknown when something is in it',
  async (size) => {
    const file = machine.at('short');
    fs.writeFileSync(file, Buffer.alloc(size));
    expect(await probe(file)).toEqual({ kind: 'blank' });
    fs.appendFileSync(file, 'x');
    expect(await probe(file)).toMatchObject({ kind: 'unknown' });
  },
);

rootTest('written zeros are blank', async () => {
  const file = await machine.disk(64n * MIB);
  for (let offset = 0; offset < 24; offset++) overwrite(file, offset << 20, Buffer.alloc(1 << 20));
  expect(await probe(file)).toEqual({ kind: 'blank' });
  overwrite(file, 7 << 20, Buffer.from([1]));
  expect(await probe(file)).toEqual({ kind: 'unknown', what: 'data of no filesystem we know' });
});

rootTest('what is no disk is refused, at once', async () => {
  const fifo = machine.at('fifo');
  run('mkfifo', fifo);
  await expect(probe(fifo)).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(probe(machine.folder)).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(probe('/dev/null')).rejects.toMatchObject({ errno: 'EINVAL' });
  await expect(probe(path.join(machine.folder, 'nowhere'))).rejects.toMatchObject({ errno: 'ENOENT' });
});
