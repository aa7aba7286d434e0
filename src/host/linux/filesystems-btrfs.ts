import { HostError } from '../host';
import { type OpenDisk, readFully, writeFully } from '../probe';
import {
  BTRFS,
  BTRFS_MIRROR_OFFSETS,
  BTRFS_SUPERBLOCK_OFFSET,
  BTRFS_SUPERBLOCK_SIZE,
  btrfsChecksum,
  parseBtrfs,
} from '../probe/btrfs';

/** The filesystem's id is in the superblock alone; every other block keeps the id in `metadata_uuid` (Linux 5.0). */
const INCOMPAT_METADATA_UUID = 0x400n;
const UUID_SIZE = 16;

/**
 * A copy of `superblock` with another filesystem id. Nothing else changes, in particular not the generation: a log
 * tree that is still to be replayed belongs to the present one (`btrfstune -M` counts it up, and what was only
 * fsynced is lost with the whole filesystem: seen with btrfs-progs 6.2).
 */
export function withFsid(superblock: Buffer, uuid: Buffer): Buffer | null {
  const copy = Buffer.from(superblock);
  const flags = copy.readBigUInt64LE(BTRFS.incompatFlags);
  if ((flags & INCOMPAT_METADATA_UUID) === 0n) {
    copy.copy(copy, BTRFS.metadataUuid, BTRFS.fsid, BTRFS.fsid + UUID_SIZE);
    copy.writeBigUInt64LE(flags | INCOMPAT_METADATA_UUID, BTRFS.incompatFlags);
  }
  uuid.copy(copy, BTRFS.fsid, 0, UUID_SIZE);
  const sum = btrfsChecksum(copy);
  sum?.copy(copy, 0);
  return sum === null ? null : copy;
}

/**
 * Gives the unmounted btrfs in an open file the id `uuid`: its mirrors first, the superblock that is mounted last.
 * @throws HostError EINVAL when there is no sound btrfs, or one with checksums of a kind that is not known here.
 */
export async function renewFsid(file: string, { handle, fileBytes }: OpenDisk, uuid: Buffer): Promise<void> {
  const refuse = (why: string) => new HostError('EINVAL', 'renewIdentity', `renewIdentity: ${file} ${why}`);
  const primary = await readFully(handle, BigInt(BTRFS_SUPERBLOCK_OFFSET), BTRFS_SUPERBLOCK_SIZE);
  if (parseBtrfs(primary)?.kind !== 'filesystem') throw refuse('holds no sound btrfs');
  const renewed = withFsid(primary, uuid);
  if (renewed === null) throw refuse('is a btrfs with checksums other than crc32c and sha256');

  for (const offset of BTRFS_MIRROR_OFFSETS) {
    if (offset >= fileBytes) break;
    const mirror = await readFully(handle, offset, BTRFS_SUPERBLOCK_SIZE);
    const copy = isMirrorOf(primary, mirror, offset) ? withFsid(mirror, uuid) : null;
    if (copy !== null) await writeFully(handle, copy, offset);
  }
  await writeFully(handle, renewed, BigInt(BTRFS_SUPERBLOCK_OFFSET));
}

/** A filesystem that grew since its last commit has no mirror in its new part yet. */
function isMirrorOf(primary: Buffer, mirror: Buffer, offset: bigint): boolean {
  return (
    mirror.length === BTRFS_SUPERBLOCK_SIZE &&
    mirror.readBigUInt64LE(BTRFS.byteNumber) === offset &&
    mirror
      .subarray(BTRFS.fsid, BTRFS.fsid + UUID_SIZE)
      .equals(primary.subarray(BTRFS.fsid, BTRFS.fsid + UUID_SIZE))
  );
}
