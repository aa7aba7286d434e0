import type { Extent } from '../host';
import { BTRFS_MIRROR_OFFSETS } from './btrfs';
import type { DiskReader } from './disk-reader';

const CHUNK = 1 << 18;
const ZEROS = Buffer.alloc(CHUNK);

/** As much data as is read from the front before the rest of a disk is judged by its samples. */
const FRONT_BYTES = 16n << 20n;
const TAIL_BYTES = 1n << 20n;
const SAMPLE_BYTES = 4096n;

/**
 * Where a filesystem whose front was wiped still shows itself: the first ext backup superblock (group 1 of 1, 2 and
 * 4 KiB blocks; the last is 128 MiB) and the btrfs mirrors.
 */
const SAMPLE_OFFSETS: readonly bigint[] = [8193n << 10n, 32n << 20n, 128n << 20n, ...BTRFS_MIRROR_OFFSETS];

export function isZero(bytes: Buffer): boolean {
  for (let offset = 0; offset < bytes.length; offset += CHUNK) {
    const part = bytes.subarray(offset, offset + CHUNK);
    if (!part.equals(ZEROS.subarray(0, part.length))) return false;
  }
  return true;
}

/**
 * Whether a disk without any known signature is blank. It is when no byte was ever written, or when all of these
 * are zero: the first 16 MiB of its data (holes do not count), its last MiB, and the places of backup superblocks.
 * So the cost is bounded on a device that cannot tell its holes, and a filesystem with a wiped front is no blank disk.
 */
export async function isBlank(disk: DiskReader): Promise<boolean> {
  let budget = FRONT_BYTES;
  for await (const extent of disk.dataExtents(0n)) {
    const length = extent.length < budget ? extent.length : budget;
    if (!(await isZeroRange(disk, { offset: extent.offset, length }))) return false;
    budget -= length;
    if (budget === 0n) return await areSamplesZero(disk);
  }
  return true;
}

async function areSamplesZero(disk: DiskReader): Promise<boolean> {
  const tail = disk.sizeBytes > TAIL_BYTES ? disk.sizeBytes - TAIL_BYTES : 0n;
  if (!(await isZeroRange(disk, { offset: tail, length: TAIL_BYTES }))) return false;
  for (const offset of SAMPLE_OFFSETS) {
    if (!(await isZeroRange(disk, { offset, length: SAMPLE_BYTES }))) return false;
  }
  return true;
}

async function isZeroRange(disk: DiskReader, { offset, length }: Extent): Promise<boolean> {
  for (let done = 0n; done < length; done += BigInt(CHUNK)) {
    const left = length - done;
    const bytes = await disk.read(offset + done, left < CHUNK ? Number(left) : CHUNK);
    if (!isZero(bytes)) return false;
    if (bytes.length === 0) return true;
  }
  return true;
}
