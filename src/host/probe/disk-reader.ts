import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { errnoOf } from '../../util/files';
import { type Extent, HostError } from '../host';
import { describeErrno } from '../libc/errno';

/** The bytes of a disk, as far as a probe needs them. */
export interface DiskReader {
  readonly sizeBytes: bigint;
  /** The bytes from `offset`; fewer than `length` only at the end of the disk. */
  read(offset: bigint, length: number): Promise<Buffer>;
  /** Where data may be at or after `from`, ascending: what lies between is a hole, zeros that nobody wrote. */
  dataExtents(from: bigint): AsyncIterable<Extent>;
}

/** A failure to read, in words that keep anybody from taking the disk for a blank one. */
export function readError(disk: string, offset: bigint, error: unknown): HostError {
  if (error instanceof HostError) return error;
  const errno = errnoOf(error) ?? 'EIO';
  return new HostError(
    errno,
    'probe',
    `probe: cannot read ${disk} at byte ${offset}: ${describeErrno(errno)}. What it holds is unknown; it is not taken for blank`,
  );
}

/**
 * Opens a disk to be read (`r`) or written too (`r+`).
 * @throws HostError ENOENT, EACCES, …; EINVAL when it is neither a regular file nor a block device.
 */
export async function openDisk(disk: string, flags: 'r' | 'r+'): Promise<OpenDisk> {
  // A FIFO would make an ordinary open wait for its other end.
  const access = (flags === 'r' ? constants.O_RDONLY : constants.O_RDWR) | constants.O_NONBLOCK;
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(disk, access);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile() && !stats.isBlockDevice()) {
      throw new HostError('EINVAL', 'probe', `probe: ${disk} is neither a regular file nor a block device`);
    }
    return { handle, isFile: stats.isFile(), fileBytes: stats.size };
  } catch (error) {
    await handle?.close();
    throw readError(disk, 0n, error);
  }
}

export interface OpenDisk {
  handle: fs.FileHandle;
  isFile: boolean;
  /** Length of a regular file; of a block device it says nothing. */
  fileBytes: bigint;
}
