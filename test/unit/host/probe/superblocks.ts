import { crc32c } from '../../../../src/host/probe/crc32c';
import { EXT, EXT_MAGIC, extChecksum } from '../../../../src/host/probe/ext';

export const UUID = '00112233-4455-4677-8899-aabbccddeeff';
const UUID_BYTES = Buffer.from(UUID.replaceAll('-', ''), 'hex');

/** A sound ext superblock of 4,096 blocks of 1 KiB; without features it is an ext2. */
export function extSuperblock(
  features: { compat?: number; incompat?: number; roCompat?: number } = {},
  change: (superblock: Buffer) => void = () => undefined,
): Buffer {
  const superblock = Buffer.alloc(1024);
  superblock.writeUInt32LE(1024, EXT.inodesCount);
  superblock.writeUInt32LE(4096, EXT.blocksCountLow);
  superblock.writeUInt32LE(1, EXT.firstDataBlock);
  superblock.writeUInt32LE(8192, EXT.blocksPerGroup);
  superblock.writeUInt16LE(EXT_MAGIC, EXT.magic);
  superblock.writeUInt32LE(features.compat ?? 0, EXT.featureCompat);
  superblock.writeUInt32LE(features.incompat ?? 0, EXT.featureIncompat);
  superblock.writeUInt32LE(features.roCompat ?? 0, EXT.featureRoCompat);
  UUID_BYTES.copy(superblock, EXT.uuid);
  change(superblock);
  superblock.writeUInt32LE(extChecksum(superblock), EXT.checksum);
  return superblock;
}

/** A version 5 xfs superblock sector of 102,400 blocks of 4 KiB. */
export function xfsSuperblock(change: (sector: Buffer) => void = () => undefined): Buffer {
  const sector = Buffer.alloc(512);
  sector.write('XFSB', 0, 'latin1');
  sector.writeUInt32BE(4096, 4);
  sector.writeBigUInt64BE(102400n, 8);
  UUID_BYTES.copy(sector, 32);
  sector.writeUInt16BE(0xb4a5, 100);
  sector.writeUInt16BE(512, 102);
  change(sector);
  sector.writeUInt32LE(~crc32c(0xffffffff, sector) >>> 0, 224);
  return sector;
}

/** A btrfs superblock of 400 MiB. */
export function btrfsSuperblock(change: (superblock: Buffer) => void = () => undefined): Buffer {
  const superblock = Buffer.alloc(4096);
  UUID_BYTES.copy(superblock, 0x20);
  superblock.writeBigUInt64LE(65536n, 0x30);
  superblock.write('_BHRfS_M', 0x40, 'latin1');
  superblock.writeBigUInt64LE(400n << 20n, 0x70);
  superblock.writeUInt32LE(4096, 0x90);
  change(superblock);
  superblock.writeUInt32LE(~crc32c(0xffffffff, superblock.subarray(32)) >>> 0, 0);
  return superblock;
}
