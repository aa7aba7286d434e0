import * as fc from 'fast-check';
import { HostError } from '../../../../src/host/host';
import { encodeMemoryMarker, probeDisk } from '../../../../src/host/probe';
import { sparseDisk } from './sparse-disk';
import { btrfsSuperblock, extSuperblock, UUID, xfsSuperblock } from './superblocks';

const MIB = 1 << 20;
const GIB = 1n << 30n;

/** `text` at `offset` of otherwise empty bytes. */
function withText(...places: [offset: number, text: string][]): Buffer {
  const bytes = Buffer.alloc(70_000);
  for (const [offset, text] of places) bytes.write(text, offset, 'latin1');
  return bytes;
}

describe('what is recognised', () => {
  const foreign: [what: string, head: Buffer][] = [
    ['a GPT partition table', withText([510, '\x55\xaa'], [450, '\xee'], [512, 'EFI PART'])],
    ['a GPT partition table', withText([4096, 'EFI PART'])],
    ['an MBR partition table', withText([450, '\x83'], [510, '\x55\xaa'])],
    ['a boot sector', withText([0, '\xeb\x3c'], [510, '\x55\xaa'])],
    ['a LUKS2 encrypted disk', withText([0, 'LUKS\xba\xbe\x00\x02'])],
    ['swap space', withText([4086, 'SWAPSPACE2'])],
    ['swap space', withText([65526, 'SWAPSPACE2'])],
    ['vfat', withText([82, 'FAT32   '], [510, '\x55\xaa'])],
    ['vfat', withText([54, 'FAT16   '], [510, '\x55\xaa'])],
    ['exfat', withText([3, 'EXFAT   '], [510, '\x55\xaa'])],
    ['ntfs', withText([3, 'NTFS    '], [510, '\x55\xaa'])],
    ['an LVM2 physical volume', withText([512, 'LABELONE'], [536, 'LVM2 001'])],
    ['squashfs', withText([0, 'hsqs'])],
    ['iso9660', withText([32769, 'CD001'])],
    ['data of no filesystem we know', withText([5000, 'diary'])],
  ];
  test.each(foreign)('%s', async (what, head) => {
    expect(await probeDisk(sparseDisk(GIB, { 0: head }))).toEqual({ kind: 'unknown', what });
  });

  test('the filesystems of the driver', async () => {
    const ext = extSuperblock({ compat: 4, incompat: 0x40, roCompat: 0x400 });
    const found = { kind: 'filesystem', uuid: UUID };
    expect(await probeDisk(sparseDisk(GIB, { 1024: ext }))).toMatchObject({ ...found, fsType: 'ext4' });
    expect(await probeDisk(sparseDisk(GIB, { 0: xfsSuperblock() }))).toMatchObject({
      ...found,
      fsType: 'xfs',
    });
    expect(await probeDisk(sparseDisk(GIB, { 65536: btrfsSuperblock() }))).toMatchObject({
      ...found,
      fsType: 'btrfs',
    });
  });

  test('a GPT whose first header was wiped is found by its second, at the end', async () => {
    const end = Buffer.alloc(512);
    end.write('EFI PART', 0);
    expect(await probeDisk(sparseDisk(GIB, { [Number(GIB) - 512]: end }))).toEqual({
      kind: 'unknown',
      what: 'the backup of a GPT partition table',
    });
  });

  test('a filesystem of the memory host is none for a kernel', async () => {
    const marker = encodeMemoryMarker({
      fsType: 'ext4',
      uuid: UUID,
      sizeBytes: GIB,
      blockSize: 4096,
      label: '',
    });
    expect(await probeDisk(sparseDisk(GIB, { 1024: marker }))).toMatchObject({
      kind: 'unknown',
      what: expect.stringContaining('memory host'),
    });
  });
});

describe('two at once', () => {
  const ext = extSuperblock({ compat: 4, incompat: 0x40, roCompat: 0x400 });

  test('what mkfs leaves alone does not make a filesystem unknown', async () => {
    const leftovers = withText([510, '\x55\xaa'], [4086, 'SWAPSPACE2'], [32769, 'CD001']);
    ext.copy(leftovers, 1024);
    expect(await probeDisk(sparseDisk(GIB, { 0: leftovers }))).toMatchObject({ fsType: 'ext4' });
    const both = sparseDisk(GIB, { 1024: ext, 65536: btrfsSuperblock() });
    expect(await probeDisk(both)).toMatchObject({ kind: 'filesystem', fsType: 'ext4' });
  });

  test('what mkfs would have overwritten makes it unknown, and both are named', async () => {
    const luks = sparseDisk(GIB, { 0: Buffer.from('LUKS\xba\xbe\x00\x01', 'latin1'), 1024: ext });
    expect(await probeDisk(luks)).toEqual({ kind: 'unknown', what: 'ext4 and a LUKS1 encrypted disk' });
    const xfs = sparseDisk(GIB, { 0: xfsSuperblock(), 1024: ext });
    expect(await probeDisk(xfs)).toEqual({ kind: 'unknown', what: 'ext4 and xfs' });
  });

  test('a damaged superblock is named as what it was', async () => {
    const damaged = Buffer.from(ext);
    damaged.writeUInt8(damaged.readUInt8(0x70) ^ 1, 0x70);
    expect(await probeDisk(sparseDisk(GIB, { 1024: damaged }))).toEqual({
      kind: 'unknown',
      what: 'ext4 with a superblock checksum that does not match',
    });
  });
});

describe('blank', () => {
  test('when nothing was ever written, without reading a byte', async () => {
    const disk = sparseDisk(1n << 60n, {});
    expect(await probeDisk(disk)).toEqual({ kind: 'blank' });
    expect(disk.bytesRead()).toBe(0n);
  });

  test.each([0n, 1n, 511n, 512n, 4096n])('when all %d bytes of a short disk are zeros', async (size) => {
    const disk = sparseDisk(size, { 0: Buffer.alloc(Number(size)) });
    expect(await probeDisk(disk)).toEqual({ kind: 'blank' });
  });

  test('not when the last byte of a short disk is set', async () => {
    const bytes = Buffer.alloc(512);
    bytes.writeUInt8(1, 511);
    expect(await probeDisk(sparseDisk(512n, { 0: bytes }))).toMatchObject({ kind: 'unknown' });
  });

  test('not when a wiped ext4 still has its files', async () => {
    const files = Buffer.alloc(4096, 'precious');
    const disk = sparseDisk(GIB, { 0: Buffer.alloc(4096), [300 * MIB]: files });
    expect(await probeDisk(disk)).toEqual({ kind: 'unknown', what: 'data of no filesystem we know' });
  });

  test.each([
    ['the last MiB', Number(8n * GIB) - MIB],
    ['the backup of an ext4 with 1 KiB blocks', 8193 * 1024],
    ['the backup of an ext4 with 2 KiB blocks', 32 * MIB],
    ['the backup of an ext4 with 4 KiB blocks', 128 * MIB],
    ['the mirror of a btrfs', 64 * MIB],
  ])('not when a device that cannot tell its holes has something in %s', async (_, offset) => {
    const disk = sparseDisk(8n * GIB, { [offset]: Buffer.from([1]) }, { holesKnown: false });
    expect(await probeDisk(disk)).toMatchObject({ kind: 'unknown' });
  });

  test('on a device that cannot tell its holes, after a bounded number of bytes', async () => {
    const disk = sparseDisk(1n << 50n, {}, { holesKnown: false });
    expect(await probeDisk(disk)).toEqual({ kind: 'blank' });
    expect(disk.bytesRead()).toBeLessThan(18n << 20n);
  });

  test('never with a byte set in the first 8 MiB, wherever data extents lie', async () => {
    const disks = fc.record({
      size: fc.bigInt({ min: 8n << 20n, max: 1n << 44n }),
      offset: fc.nat({ max: 8 * MIB - 1 }),
      value: fc.integer({ min: 1, max: 255 }),
      zerosAt: fc.nat({ max: 64 }),
      holesKnown: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(disks, async ({ size, offset, value, zerosAt, holesKnown }) => {
        const parts = { [offset]: Buffer.from([value]), [(16 + zerosAt) * MIB]: Buffer.alloc(4096) };
        const result = await probeDisk(sparseDisk(size, parts, { holesKnown }));
        expect(result.kind).toBe('unknown');
      }),
      { numRuns: 60 },
    );
  });
});

test('a read that fails is an error, wherever it happens, never a blank disk', async () => {
  const eio = new HostError('EIO', 'read', 'read: EIO');
  for (const broken of [0n, 1n << 20n, (1n << 40n) - 4096n]) {
    const disk = sparseDisk(1n << 40n, { 0: Buffer.alloc(4 * MIB) });
    const read = disk.read;
    const failing = {
      ...disk,
      read: async (offset: bigint, length: number) => {
        if (offset <= broken && broken < offset + BigInt(length)) throw eio;
        return read(offset, length);
      },
    };
    await expect(probeDisk(failing)).rejects.toBe(eio);
  }
});
