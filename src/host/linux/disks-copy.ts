import type { FileHandle } from 'node:fs/promises';
import type { Extent } from '../host';
import { isErrno, type Libc } from '../libc';
import { readFully, smaller, writeFully } from '../probe';

/**
 * Bytes moved by one call: short enough that other file work gets its turn in libuv's pool, long enough that the
 * price of a call (some 50 µs) does not count.
 */
const CHUNK = 1 << 20;

/** Answers of FICLONE and copy_file_range(2) that mean "not between these two files", not "the disk failed". */
const CANNOT = ['EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOTTY', 'ENOSYS', 'EPERM', 'ETXTBSY'];

/** `target` shares all of `source`'s extents. @returns false where the filesystem cannot do that. */
export async function clone(libc: Libc, source: FileHandle, target: FileHandle): Promise<boolean> {
  try {
    await libc.ficlone(target.fd, source.fd);
    return true;
  } catch (error) {
    if (isErrno(error, ...CANNOT)) return false;
    throw error;
  }
}

/** Runs one piece of work in the thread pool, with others kept waiting where they would crowd it. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>;

/** Copies the bytes of `extents` to the same places of `target`; checks `signal` before each piece. */
export async function copyExtents(
  libc: Libc,
  source: FileHandle,
  target: FileHandle,
  extents: AsyncIterable<Extent>,
  turn: Turn,
  signal?: AbortSignal,
): Promise<void> {
  let inKernel = true;
  for await (const { offset, length } of extents) {
    const end = offset + length;
    let at = offset;
    while (at < end) {
      signal?.throwIfAborted();
      const want = Number(smaller(end - at, BigInt(CHUNK)));
      const position = at;
      if (inKernel) {
        const copied = await turn(() => copyInKernel(libc, source, target, position, want));
        // 0 although there is data: a filesystem that claims to know the call and does not.
        if (copied > 0) {
          at += BigInt(copied);
          continue;
        }
        inKernel = false;
      }
      const bytes = await turn(() => readFully(source, position, want));
      if (bytes.length === 0) return;
      await turn(() => writeFully(target, bytes, position));
      at += BigInt(bytes.length);
    }
  }
}

async function copyInKernel(
  libc: Libc,
  source: FileHandle,
  target: FileHandle,
  at: bigint,
  length: number,
): Promise<number> {
  try {
    return await libc.copyFileRange(source.fd, at, target.fd, at, length);
  } catch (error) {
    if (isErrno(error, ...CANNOT)) return 0;
    throw error;
  }
}
