import type { Extent } from '../host';
import { isErrno, type Libc, SEEK } from '../libc';
import { type DiskReader, isZero, smaller } from '../probe';

/** Finest hole a scan finds: the block size of nearly every filesystem a disk file lies on. */
const SCAN_BLOCK = 4096;
const SCAN_CHUNK = 1 << 20;

/** SEEK_DATA is unknown to block devices and to some network and FUSE filesystems. */
const CANNOT_SEEK = ['EINVAL', 'EOPNOTSUPP', 'ENOTTY', 'ENOSYS', 'ESPIPE'];

type Extents = (disk: Pick<DiskReader, 'sizeBytes' | 'read'>, from: bigint) => AsyncIterable<Extent>;

/**
 * Extents that hold data, from SEEK_DATA and SEEK_HOLE; where there is neither, `otherwise`: by default the blocks
 * that are not zero.
 */
export async function* dataExtents(
  libc: Libc,
  fd: number,
  disk: Pick<DiskReader, 'sizeBytes' | 'read'>,
  from: bigint,
  otherwise: Extents = nonZeroExtents,
): AsyncGenerator<Extent> {
  let offset = from;
  while (offset < disk.sizeBytes) {
    let start: bigint;
    try {
      start = await libc.lseek(fd, offset, SEEK.DATA);
    } catch (error) {
      if (isErrno(error, 'ENXIO')) return;
      if (!isErrno(error, ...CANNOT_SEEK)) throw error;
      yield* otherwise(disk, offset);
      return;
    }
    if (start >= disk.sizeBytes) return;
    const end = smaller(await libc.lseek(fd, start, SEEK.HOLE), disk.sizeBytes);
    yield { offset: start, length: end - start };
    offset = end;
  }
}

/** Everything, as data: where only a part will be looked at, reading it all to find the holes would cost more. */
export async function* wholeExtent(
  disk: Pick<DiskReader, 'sizeBytes'>,
  from: bigint,
): AsyncGenerator<Extent> {
  if (from < disk.sizeBytes) yield { offset: from, length: disk.sizeBytes - from };
}

/** The same by reading everything: runs of 4 KiB blocks that are not all zero. */
export async function* nonZeroExtents(
  disk: Pick<DiskReader, 'sizeBytes' | 'read'>,
  from: bigint,
): AsyncGenerator<Extent> {
  let start: bigint | null = null;
  let offset = from;
  while (offset < disk.sizeBytes) {
    const bytes = await disk.read(offset, Number(smaller(disk.sizeBytes - offset, BigInt(SCAN_CHUNK))));
    if (bytes.length === 0) break;
    if (start === null && isZero(bytes)) {
      offset += BigInt(bytes.length);
      continue;
    }
    let at = 0;
    while (at < bytes.length) {
      // The first block may be a part, after which the blocks are aligned.
      const step = SCAN_BLOCK - Number((offset + BigInt(at)) % BigInt(SCAN_BLOCK));
      const block = bytes.subarray(at, at + step);
      if (isZero(block)) {
        if (start !== null) yield { offset: start, length: offset + BigInt(at) - start };
        start = null;
      } else {
        start ??= offset + BigInt(at);
      }
      at += block.length;
    }
    offset += BigInt(bytes.length);
  }
  if (start !== null) yield { offset: start, length: offset - start };
}
