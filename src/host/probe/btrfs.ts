import { createHash } from 'node:crypto';
import { crc32c } from './crc32c';
import { type Finding, isPowerOfTwo, uuidText } from './finding';

export const BTRFS_SUPERBLOCK_OFFSET = 65536;
export const BTRFS_SUPERBLOCK_SIZE = 4096;
/** Copies of the superblock (fs/btrfs/disk-io.h, btrfs_sb_offset). */
export const BTRFS_MIRROR_OFFSETS: readonly bigint[] = [64n << 20n, 256n << 30n];

/** Offsets in the superblock (include/uapi/linux/btrfs_tree.h, btrfs_super_block); little endian. */
const BTRFS = {
  fsid: 0x20,
  byteNumber: 0x30,
  magic: 0x40,
  totalBytes: 0x70,
  sectorSize: 0x90,
  sumType: 0xc4,
};
const SUM_SIZE = 32;
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

/** Sum types 1 (xxhash64) and 3 (blake2b-256) are not computed here: the magic and the sizes have to do. */
function checksumMatches(superblock: Buffer): boolean {
  const content = superblock.subarray(SUM_SIZE, BTRFS_SUPERBLOCK_SIZE);
  const sumType = superblock.readUInt16LE(BTRFS.sumType);
  if (sumType === 0) return superblock.readUInt32LE(0) === ~crc32c(0xffffffff, content) >>> 0;
  if (sumType === 2) {
    return createHash('sha256').update(content).digest().equals(superblock.subarray(0, SUM_SIZE));
  }
  return sumType === 1 || sumType === 3;
}
