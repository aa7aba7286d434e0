import { crc32c } from './crc32c';
import { type Finding, isPowerOfTwo, uuidText } from './finding';

/** Offsets in the superblock at the start of the disk (fs/xfs/libxfs/xfs_format.h, xfs_dsb); big endian but for the sum. */
export const XFS = {
  blockSize: 4,
  dataBlocks: 8,
  uuid: 32,
  version: 100,
  sectorSize: 102,
  inProgress: 126,
  crc: 224,
};
const MAGIC = 'XFSB';
const SHORTEST = 264;

/** Reads an xfs superblock from the first sector of a disk; null when there is none. */
export function parseXfs(head: Buffer): Finding | null {
  if (head.length < SHORTEST || head.toString('latin1', 0, 4) !== MAGIC) return null;
  const blockSize = head.readUInt32BE(XFS.blockSize);
  const sectorSize = head.readUInt16BE(XFS.sectorSize);
  const blocks = head.readBigUInt64BE(XFS.dataBlocks);
  const plausible =
    isPowerOfTwo(blockSize) &&
    blockSize >= 512 &&
    blockSize <= 65536 &&
    isPowerOfTwo(sectorSize) &&
    sectorSize >= 512 &&
    sectorSize <= 32768 &&
    sectorSize <= head.length &&
    blocks > 0n;
  if (!plausible) return { kind: 'damaged', what: 'xfs with a superblock whose sizes make no sense' };

  // Only version 5 has checksums, over the whole sector with the sum itself taken as zero.
  if ((head.readUInt16BE(XFS.version) & 0xf) === 5) {
    const sector = Buffer.from(head.subarray(0, sectorSize));
    const stored = sector.readUInt32LE(XFS.crc);
    sector.writeUInt32LE(0, XFS.crc);
    if (stored !== ~crc32c(0xffffffff, sector) >>> 0) {
      return { kind: 'damaged', what: 'xfs with a superblock checksum that does not match' };
    }
  }
  // mkfs.xfs writes the superblock first and clears this byte last.
  if (head[XFS.inProgress] !== 0) return { kind: 'damaged', what: 'an xfs whose mkfs did not finish' };
  return {
    kind: 'filesystem',
    fsType: 'xfs',
    uuid: uuidText(head, XFS.uuid),
    sizeBytes: blocks * BigInt(blockSize),
    blockSize,
  };
}
