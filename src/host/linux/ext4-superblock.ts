import {
  COMPAT_SPARSE_SUPER2,
  EXT,
  EXT_SUPERBLOCK_OFFSET,
  extBlockSize,
  extBlocksCount,
  extChecksum,
  RO_COMPAT_SPARSE_SUPER,
} from '../probe/ext';

export interface Ext4Identity {
  /** 16 bytes. */
  uuid: Buffer;
  /** At most 16 bytes. */
  label: string;
}

const LABEL_SIZE = 16;

/**
 * A copy of `superblock` with another identity. Only the superblock's own checksum depends on its UUID where the
 * feature metadata_csum_seed keeps the seed of all others apart.
 */
export function withIdentity(superblock: Buffer, { uuid, label }: Ext4Identity): Buffer {
  const copy = Buffer.from(superblock);
  uuid.copy(copy, EXT.uuid, 0, 16);
  copy.fill(0, EXT.volumeName, EXT.volumeName + LABEL_SIZE);
  copy.write(label, EXT.volumeName, LABEL_SIZE, 'utf8');
  copy.writeUInt32LE(extChecksum(copy), EXT.checksum);
  return copy;
}

/** Byte offsets of all copies of the superblock, the primary last. */
export function superblockOffsets(primary: Buffer): bigint[] {
  const blockSize = BigInt(extBlockSize(primary));
  const firstBlock = BigInt(primary.readUInt32LE(EXT.firstDataBlock));
  const perGroup = BigInt(primary.readUInt32LE(EXT.blocksPerGroup));
  const groups = Number((extBlocksCount(primary) - firstBlock + perGroup - 1n) / perGroup);
  const backups = backupGroups(primary, groups).map(
    (group) => (firstBlock + BigInt(group) * perGroup) * blockSize,
  );
  return [...backups, BigInt(EXT_SUPERBLOCK_OFFSET)];
}

/**
 * Groups with a backup: two named ones with sparse_super2; 1 and the powers of 3, 5 and 7 with sparse_super; else all
 * (Documentation/filesystems/ext4, "Sparse superblocks").
 */
function backupGroups(primary: Buffer, groups: number): number[] {
  if ((primary.readUInt32LE(EXT.featureCompat) & COMPAT_SPARSE_SUPER2) !== 0) {
    const named = [primary.readUInt32LE(EXT.backupGroups), primary.readUInt32LE(EXT.backupGroups + 4)];
    return named.filter((group) => group > 0 && group < groups);
  }
  if ((primary.readUInt32LE(EXT.featureRoCompat) & RO_COMPAT_SPARSE_SUPER) === 0) {
    return Array.from({ length: groups - 1 }, (_, index) => index + 1);
  }
  const found = new Set<number>();
  if (groups > 1) found.add(1);
  for (const base of [3, 5, 7]) {
    for (let group = base; group < groups; group *= base) found.add(group);
  }
  return [...found].sort((a, b) => a - b);
}
