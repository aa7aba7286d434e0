import { createHash } from 'node:crypto';
import { crc32c } from './crc32c';
import { type Finding, isPowerOfTwo, uuidText } from './finding';

export const BTRFS_SUPERBLOCK_OFFSET = 65536;
export const BTRFS_SUPERBLOCK_SIZE = 4096;
/** Copies of the superblock (fs/btrfs/disk-io.h, btrfs_sb_offset). */
export const BTRFS_MIRROR_OFFSETS: readonly bigint[] = [64n << 20n, 256n << 30n];

/** Offsets in the superblock (include/uapi/linux/btrfs_tree.h, btrfs_super_block); little endian. */
export const BTRFS = {
  fsid: 0x20,
  byteNumber: 0x30,
  magic: 0x40,
  totalBytes: 0x70,
  sectorSize: 0x90,
  incompatFlags: 0xbc,
  sumType: 0xc4,
  metadataUuid: 0x23b,
} as const;
export const BTRFS_SUM_SIZE = 32;
const SUM_CRC32C = 0;
const SUM_XXHASH = 1;
const SUM_SHA256 = 2;
const SUM_BLAKE2 = 3;
const MAGIC = '_BHRfS_M';
/** What mkfs.btrfs writes in the magic's place until it has finished. */
const UNFINISHED_MAGIC = '!BHRfS_M';

/** Reads the 4,096 bytes of a btrfs superblock; null when there is none. */
export function parseBtrfs(superblock: Buffer): Finding | null {
  if (superblock.length < BTRFS_SUPERBLOCK_SIZE) return null;
  const magic = superblock.toString('latin1', BTRFS.magic, BTRFS.magic + 8);
  if (magic === UNFINISHED_MAGIC) return { kind: 'damaged', what: 'a btrfs whose mkfs did not finish' };
  if (magic !== MAGIC) return null;
  if (!checksumMatches(superblock)) {
    return { kind: 'damaged', what: 'btrfs with a superblock checksum that does not match' };
  }
  const sectorSize = superblock.readUInt32LE(BTRFS.sectorSize);
  const totalBytes = superblock.readBigUInt64LE(BTRFS.totalBytes);
  const byteNumber = superblock.readBigUInt64LE(BTRFS.byteNumber);
  if (!isPowerOfTwo(sectorSize) || totalBytes === 0n || byteNumber !== BigInt(BTRFS_SUPERBLOCK_OFFSET)) {
    return { kind: 'damaged', what: 'btrfs with a superblock whose sizes make no sense' };
  }
  return {
    kind: 'filesystem',
    fsType: 'btrfs',
    uuid: uuidText(superblock, BTRFS.fsid),
    sizeBytes: totalBytes,
    blockSize: sectorSize,
  };
}

function checksumMatches(superblock: Buffer): boolean {
  const sumType = superblock.readUInt16LE(BTRFS.sumType);
  if (sumType === SUM_XXHASH || sumType === SUM_BLAKE2) return true;
  const sum = btrfsChecksum(superblock);
  return sum?.equals(superblock.subarray(0, sum.length)) ?? false;
}

/**
 * The sum that belongs at the start of a superblock; null of a kind that is not computed here (xxhash64, BLAKE2b): of
 * those the magic and the sizes have to do.
 */
export function btrfsChecksum(superblock: Buffer): Buffer | null {
  const content = superblock.subarray(BTRFS_SUM_SIZE, BTRFS_SUPERBLOCK_SIZE);
  const sumType = superblock.readUInt16LE(BTRFS.sumType);
  if (sumType === SUM_SHA256) return createHash('sha256').update(content).digest();
  if (sumType !== SUM_CRC32C) return null;
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(~crc32c(0xffffffff, content) >>> 0);
  return sum;
}
