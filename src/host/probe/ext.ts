import { crc32c } from './crc32c';
import { type Finding, uuidText } from './finding';

/** ext2, ext3 and ext4 keep 1,024 bytes of superblock at this offset of the disk (fs/ext4/ext4.h, ext4_super_block). */
export const EXT_SUPERBLOCK_OFFSET = 1024;
export const EXT_SUPERBLOCK_SIZE = 1024;

/** Offsets in the superblock; all fields are little endian. */
export const EXT = {
  inodesCount: 0x00,
  blocksCountLow: 0x04,
  firstDataBlock: 0x14,
  logBlockSize: 0x18,
  blocksPerGroup: 0x20,
  inodesPerGroup: 0x28,
  magic: 0x38,
  inodeSize: 0x58,
  featureCompat: 0x5c,
  featureIncompat: 0x60,
  featureRoCompat: 0x64,
  uuid: 0x68,
  volumeName: 0x78,
  blocksCountHigh: 0x150,
  backupGroups: 0x24c,
  checksum: 0x3fc,
} as const;

export const EXT_MAGIC = 0xef53;
export const COMPAT_HAS_JOURNAL = 0x4;
export const COMPAT_SPARSE_SUPER2 = 0x200;
export const INCOMPAT_JOURNAL_DEV = 0x8;
export const INCOMPAT_64BIT = 0x80;
export const RO_COMPAT_SPARSE_SUPER = 0x1;
export const RO_COMPAT_METADATA_CSUM = 0x400;

/** Features ext2 and ext3 know; with any other the filesystem is ext4. filetype, recover, meta_bg. */
const EXT3_INCOMPAT = 0x2 | 0x4 | 0x10;
/** sparse_super, large_file, btree_dir. */
const EXT3_RO_COMPAT = 0x1 | 0x2 | 0x4;

/** Largest block is 64 KiB (s_log_block_size counts from 1 KiB). */
const MAX_LOG_BLOCK_SIZE = 6;

/** The sum ext4 keeps at 0x3fc: over the bytes before it, seeded with ~0, not complemented. */
export function extChecksum(superblock: Buffer): number {
  return crc32c(0xffffffff, superblock.subarray(0, EXT.checksum));
}

export function extBlockSize(superblock: Buffer): number {
  return 1024 << superblock.readUInt32LE(EXT.logBlockSize);
}

export function extBlocksCount(superblock: Buffer): bigint {
  const high =
    (superblock.readUInt32LE(EXT.featureIncompat) & INCOMPAT_64BIT) !== 0
      ? superblock.readUInt32LE(EXT.blocksCountHigh)
      : 0;
  return (BigInt(high) << 32n) | BigInt(superblock.readUInt32LE(EXT.blocksCountLow));
}

/**
 * Blocks a last group needs at the least: two bitmaps, its inode table and 50 more. mke2fs and the kernel leave a
 * shorter rest of the device unused (misc/mke2fs.c, ext2fs_initialize; fs/ext4/resize.c, ext4_resize_fs).
 */
export function extSmallestGroup(superblock: Buffer): bigint {
  const inodeTable = superblock.readUInt32LE(EXT.inodesPerGroup) * superblock.readUInt16LE(EXT.inodeSize);
  return BigInt(2 + Math.ceil(inodeTable / extBlockSize(superblock)) + 50);
}

/** Reads a superblock of the ext family; null when there is none. A disk too short to hold one has none. */
export function parseExt(superblock: Buffer): Finding | null {
  if (superblock.length < EXT_SUPERBLOCK_SIZE || superblock.readUInt16LE(EXT.magic) !== EXT_MAGIC)
    return null;
  const compat = superblock.readUInt32LE(EXT.featureCompat);
  const incompat = superblock.readUInt32LE(EXT.featureIncompat);
  const roCompat = superblock.readUInt32LE(EXT.featureRoCompat);
  const fsType = typeOf(compat, incompat, roCompat);

  if ((roCompat & RO_COMPAT_METADATA_CSUM) !== 0) {
    if (superblock.readUInt32LE(EXT.checksum) !== extChecksum(superblock)) {
      return { kind: 'damaged', what: 'ext4 with a superblock checksum that does not match' };
    }
  }
  if (!isPlausible(superblock)) {
    return { kind: 'damaged', what: `${fsType} with a superblock whose sizes make no sense` };
  }
  if ((incompat & INCOMPAT_JOURNAL_DEV) !== 0) {
    return { kind: 'damaged', what: 'the journal of an ext4 that lives on another device' };
  }
  const blockSize = extBlockSize(superblock);
  return {
    kind: 'filesystem',
    fsType,
    uuid: uuidText(superblock, EXT.uuid),
    sizeBytes: extBlocksCount(superblock) * BigInt(blockSize),
    blockSize,
  };
}

function typeOf(compat: number, incompat: number, roCompat: number): 'ext2' | 'ext3' | 'ext4' {
  if ((incompat & ~EXT3_INCOMPAT) !== 0 || (roCompat & ~EXT3_RO_COMPAT) !== 0) return 'ext4';
  return (compat & COMPAT_HAS_JOURNAL) !== 0 ? 'ext3' : 'ext2';
}

function isPlausible(superblock: Buffer): boolean {
  return (
    superblock.readUInt32LE(EXT.logBlockSize) <= MAX_LOG_BLOCK_SIZE &&
    superblock.readUInt32LE(EXT.inodesCount) > 0 &&
    superblock.readUInt32LE(EXT.blocksPerGroup) > 0 &&
    extBlocksCount(superblock) > BigInt(superblock.readUInt32LE(EXT.firstDataBlock))
  );
}
