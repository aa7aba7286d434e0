import type { DeviceNumber, FsType, Usage } from '../host';

/** A filesystem that is mounted somewhere in the model. All mounts of one device share it. */
export interface Superblock {
  fsType: FsType | 'tmpfs';
  device: DeviceNumber;
  /** Index of the loop device it lies on; undefined for a tmpfs. */
  loop: number | undefined;
  uuid: string;
  sizeBytes: bigint;
  blockSize: number;
  readOnly: boolean;
  frozen: boolean;
  options: string[];
  /** What its files take, as far as anybody said so (nobody writes to a model). */
  data: { bytes: bigint; inodes: bigint };
}

interface Shape {
  rootInode: bigint;
  /** Part of the size that statfs(2) does not count (journal, inode tables, log): one in so many; 0n: none. */
  overheadShare: bigint;
  /** In use right after mkfs. */
  usedBytes: bigint;
  usedInodes: bigint;
  /** One inode for so many bytes; 0n: as many as are wanted, told as none (btrfs). */
  bytesPerInode: bigint;
}

/** Round figures of what Linux 6 says of a filesystem just made. */
const SHAPES: Readonly<Record<FsType | 'tmpfs', Shape>> = {
  ext4: { rootInode: 2n, overheadShare: 20n, usedBytes: 24576n, usedInodes: 11n, bytesPerInode: 16384n },
  xfs: { rootInode: 128n, overheadShare: 25n, usedBytes: 1n << 20n, usedInodes: 3n, bytesPerInode: 2048n },
  btrfs: { rootInode: 256n, overheadShare: 0n, usedBytes: 196608n, usedInodes: 0n, bytesPerInode: 0n },
  tmpfs: { rootInode: 1n, overheadShare: 0n, usedBytes: 0n, usedInodes: 1n, bytesPerInode: 4096n },
};

export function rootInodeOf(superblock: Superblock): bigint {
  return SHAPES[superblock.fsType].rootInode;
}

export function usageOf({ fsType, sizeBytes, data }: Superblock): Usage {
  const shape = SHAPES[fsType];
  const totalBytes = shape.overheadShare === 0n ? sizeBytes : sizeBytes - sizeBytes / shape.overheadShare;
  const totalInodes = shape.bytesPerInode === 0n ? 0n : sizeBytes / shape.bytesPerInode + 16n;
  return {
    bytes: count(totalBytes, shape.usedBytes + data.bytes),
    inodes: count(totalInodes, totalInodes === 0n ? 0n : shape.usedInodes + data.inodes),
  };
}

function count(total: bigint, wanted: bigint): Usage['bytes'] {
  const used = wanted > total ? total : wanted;
  return { total, used, available: total - used };
}
