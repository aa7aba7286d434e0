import * as fs from 'node:fs';
import * as path from 'node:path';
import { errnoOf } from '../util/files';

/** The largest length that Node can pass on. */
const LONGEST = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Bytes of the largest sparse file that a folder's filesystem takes and Node can make, a multiple of `granule`. Found by
 * trying: statfs(2) does not tell. About 40 calls of ftruncate(2) on an empty file, which has no name when it is over.
 * @throws the kernel's error for anything but a file that is too large
 */
export function largestFile(folder: string, granule: bigint): bigint {
  const file = path.join(folder, `.size-${process.pid}.tmp`);
  const fd = fs.openSync(file, 'w', 0o600);
  try {
    fs.unlinkSync(file);
    let [fits, fails] = [0n, LONGEST / granule + 1n];
    while (fails - fits > 1n) {
      const middle = (fits + fails) / 2n;
      if (takes(fd, middle * granule)) fits = middle;
      else fails = middle;
    }
    return fits * granule;
  } finally {
    fs.closeSync(fd);
  }
}

function takes(fd: number, bytes: bigint): boolean {
  try {
    fs.ftruncateSync(fd, Number(bytes));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EFBIG' || errnoOf(error) === 'EINVAL') return false;
    throw error;
  }
}
