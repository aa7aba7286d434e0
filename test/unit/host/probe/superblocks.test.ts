import { parseBtrfs } from '../../../../src/host/probe/btrfs';
import { crc32c } from '../../../../src/host/probe/crc32c';
import { EXT, parseExt } from '../../../../src/host/probe/ext';
import { parseXfs } from '../../../../src/host/probe/xfs';
import { btrfsSuperblock, extSuperblock, UUID, xfsSuperblock } from './superblocks';

test('CRC-32C gives the check value of the catalogue of CRC algorithms', () => {
  expect(~crc32c(0xffffffff, Buffer.from('123456789')) >>> 0).toBe(0xe3069283);
});

describe('ext', () => {
  test.each([
    ['ext2', {}],
    ['ext3', { compat: 0x4 }],
    ['ext4', { compat: 0x4, incompat: 0x40 }],
    ['ext4', { incompat: 0x40 }],
    ['ext4', { compat: 0x4, incompat: 0x42, roCompat: 0x400 }],
  ])('is %s by its features (%j)', (fsType, features) => {
    expect(parseExt(extSuperblock(features))).toEqual({
      kind: 'filesystem',
      fsType,
      uuid: UUID,
      sizeBytes: 4096n * 1024n,
      blockSize: 1024,
    });
  });

  test('counts blocks beyond 32 bits only with the 64bit feature', () => {
    const high = (superblock: Buffer) => superblock.writeUInt32LE(1, EXT.blocksCountHigh);
    expect(parseExt(extSuperblock({ incompat: 0xc0 }, high))).toMatchObject({
      sizeBytes: (2n ** 32n + 4096n) * 1024n,
    });
    expect(parseExt(extSuperblock({ incompat: 0x40 }, high))).toMatchObject({ sizeBytes: 4096n * 1024n });
  });

  test('a checksum that does not match is damage, whichever bit changed', () => {
    const superblock = extSuperblock({ roCompat: 0x400 });
    for (const offset of [EXT.uuid, EXT.checksum, EXT.inodesCount]) {
      const changed = Buffer.from(superblock);
      changed.writeUInt8(changed.readUInt8(offset) ^ 1, offset);
      expect(parseExt(changed)).toEqual({
        kind: 'damaged',
        what: 'ext4 with a superblock checksum that does not match',
      });
    }
  });

  test.each([
    ['a block size of 2^40', (superblock: Buffer) => superblock.writeUInt32LE(30, EXT.logBlockSize)],
    ['no blocks', (superblock: Buffer) => superblock.writeUInt32LE(0, EXT.blocksCountLow)],
    ['no inodes', (superblock: Buffer) => superblock.writeUInt32LE(0, EXT.inodesCount)],
    ['empty groups', (superblock: Buffer) => superblock.writeUInt32LE(0, EXT.blocksPerGroup)],
  ])('%s makes no filesystem', (_, change) => {
    expect(parseExt(extSuperblock({}, change))).toEqual({
      kind: 'damaged',
      what: 'ext2 with a superblock whose sizes make no sense',
    });
  });

  test('an external journal is no filesystem', () => {
    expect(parseExt(extSuperblock({ incompat: 0x8 }))).toMatchObject({ kind: 'damaged' });
  });

  test('no magic, or too short for a superblock: nothing', () => {
    expect(parseExt(Buffer.alloc(1024))).toBeNull();
    expect(parseExt(extSuperblock().subarray(0, 1023))).toBeNull();
    expect(parseExt(Buffer.alloc(0))).toBeNull();
  });
});

describe('xfs', () => {
  test('is read with its size and UUID', () => {
    expect(parseXfs(xfsSuperblock())).toEqual({
      kind: 'filesystem',
      fsType: 'xfs',
      uuid: UUID,
      sizeBytes: 400n << 20n,
      blockSize: 4096,
    });
  });

  test('version 4 has no checksum to compare', () => {
    const sector = xfsSuperblock((bytes) => bytes.writeUInt16BE(0xb4a4, 100));
    sector.writeUInt32LE(7, 224);
    expect(parseXfs(sector)).toMatchObject({ kind: 'filesystem' });
  });

  test('a checksum that does not match, an mkfs that did not finish and impossible sizes are damage', () => {
    const flipped = xfsSuperblock();
    flipped.writeUInt8(flipped.readUInt8(40) ^ 1, 40);
    expect(parseXfs(flipped)).toEqual({
      kind: 'damaged',
      what: 'xfs with a superblock checksum that does not match',
    });
    expect(parseXfs(xfsSuperblock((bytes) => bytes.writeUInt8(1, 126)))).toEqual({
      kind: 'damaged',
      what: 'an xfs whose mkfs did not finish',
    });
    expect(parseXfs(xfsSuperblock((bytes) => bytes.writeUInt16BE(513, 102)))).toEqual({
      kind: 'damaged',
      what: 'xfs with a superblock whose sizes make no sense',
    });
  });

  test('a sector longer than what was read is damage, not a crash', () => {
    expect(parseXfs(xfsSuperblock((bytes) => bytes.writeUInt16BE(4096, 102)))).toMatchObject({
      kind: 'damaged',
    });
    expect(parseXfs(Buffer.from('XFSB'))).toBeNull();
  });
});

describe('btrfs', () => {
  test('is read with its size and UUID', () => {
    expect(parseBtrfs(btrfsSuperblock())).toEqual({
      kind: 'filesystem',
      fsType: 'btrfs',
      uuid: UUID,
      sizeBytes: 400n << 20n,
      blockSize: 4096,
    });
  });

  test('a checksum that does not match, an mkfs that did not finish and impossible sizes are damage', () => {
    const flipped = btrfsSuperblock();
    flipped.writeUInt8(1, 2000);
    expect(parseBtrfs(flipped)).toMatchObject({
      kind: 'damaged',
      what: expect.stringContaining('does not match'),
    });
    expect(parseBtrfs(btrfsSuperblock((bytes) => bytes.write('!BHRfS_M', 0x40)))).toMatchObject({
      kind: 'damaged',
      what: expect.stringContaining('did not finish'),
    });
    expect(parseBtrfs(btrfsSuperblock((bytes) => bytes.writeBigUInt64LE(0n, 0x70)))).toMatchObject({
      kind: 'damaged',
      what: expect.stringContaining('make no sense'),
    });
  });

  test('of the checksums it cannot compute, only known kinds are believed', () => {
    expect(parseBtrfs(btrfsSuperblock((bytes) => bytes.writeUInt16LE(1, 0xc4)))).toMatchObject({
      kind: 'filesystem',
    });
    expect(parseBtrfs(btrfsSuperblock((bytes) => bytes.writeUInt16LE(9, 0xc4)))).toMatchObject({
      kind: 'damaged',
    });
  });
});
