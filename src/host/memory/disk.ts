import * as fs from 'node:fs/promises';
import { HostError } from '../host';
import { asHostError } from '../linux/disks-errors';
import { nonZeroExtents } from '../linux/disks-extents';
import { type DiskReader, isZero, larger, readFully, smaller, writeFully } from '../probe';

/**
 * Where a disk file of the memory host ends, but for a page that notes its size, unless somebody writes behind it:
 * without SEEK_DATA all of it is read to find its data, and a size no filesystem allows must do. The last page of
 * 4 MiB, since what people write by hand begins at round places.
 */
export const NOTE_OFFSET = (4n << 20n) - 4096n;
const NOTE_SIZE = 4096;
const NOTE_END = NOTE_OFFSET + BigInt(NOTE_SIZE);
const NOTE_MAGIC = 'fake-csi memory disk, bytes: ';

/** A disk file: its length, or the one its note tells, with zeros where the file has ended. */
export interface MemoryDisk extends DiskReader {
  readonly handle: fs.FileHandle;
  write(offset: bigint, bytes: Buffer): Promise<void>;
}

/** Runs `use` with the disk in `file`, whose errors become HostErrors of `operation`. */
export async function withDisk<T>(
  operation: string,
  file: string,
  flags: 'r' | 'r+' | 'w+',
  use: (disk: MemoryDisk) => Promise<T>,
): Promise<T> {
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(file, flags, 0o600);
    return await use(await readDisk(handle, file));
  } catch (error) {
    throw asHostError(operation, file, error);
  } finally {
    await handle?.close();
  }
}

export async function readDisk(handle: fs.FileHandle, file: string): Promise<MemoryDisk> {
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) throw new HostError('EINVAL', 'open', `${file} is no regular file`);
  const noted = stats.size >= NOTE_END ? await readNote(handle) : null;
  const sizeBytes = noted === null ? stats.size : larger(noted, stats.size > NOTE_END ? stats.size : 0n);
  const disk: MemoryDisk = {
    handle,
    sizeBytes,
    async read(offset, length) {
      const bytes = Buffer.alloc(Number(smaller(larger(sizeBytes - offset, 0n), BigInt(length))));
      if (offset < stats.size) (await readFully(handle, offset, bytes.length)).copy(bytes);
      if (noted !== null) eraseNote(bytes, offset);
      return bytes;
    },
    dataExtents: (from) =>
      nonZeroExtents({ sizeBytes: smaller(stats.size, sizeBytes), read: disk.read }, from),
    write: (offset, bytes) => writeFully(handle, bytes, offset),
  };
  return disk;
}

function eraseNote(bytes: Buffer, offset: bigint): void {
  const start = larger(NOTE_OFFSET, offset);
  const end = smaller(NOTE_END, offset + BigInt(bytes.length));
  if (start < end) bytes.fill(0, Number(start - offset), Number(end - offset));
}

async function readNote(handle: fs.FileHandle): Promise<bigint | null> {
  const note = (await readFully(handle, NOTE_OFFSET, NOTE_SIZE)).toString('latin1');
  if (!note.startsWith(NOTE_MAGIC)) return null;
  const digits = /^\d{1,19}(?=\n)/.exec(note.slice(NOTE_MAGIC.length));
  return digits === null ? null : BigInt(digits[0]);
}

/**
 * Gives a disk file a larger size: by its length as far as NOTE_OFFSET, beyond that by a note.
 * @throws HostError EFBIG when bytes that are not ours lie where the note would.
 */
export async function lengthen(disk: MemoryDisk, file: string, sizeBytes: bigint): Promise<void> {
  if (sizeBytes <= disk.sizeBytes) return;
  if (sizeBytes <= NOTE_OFFSET) return disk.handle.truncate(Number(sizeBytes));
  if (!isZero(await disk.read(NOTE_OFFSET, NOTE_SIZE))) {
    const why = `the memory host keeps a size above ${NOTE_OFFSET} bytes at that place of the file, and other data is there`;
    throw new HostError('EFBIG', 'ftruncate', `ftruncate: ${file} to ${sizeBytes} bytes: EFBIG: ${why}`);
  }
  const note = Buffer.alloc(NOTE_SIZE);
  note.write(`${NOTE_MAGIC}${sizeBytes}\n`, 'latin1');
  await disk.write(NOTE_OFFSET, note);
}
