import * as fs from 'node:fs/promises';
import { errnoOf } from '../../util/files';
import type { DiskFiles } from '../host';
import { differences } from '../linux/disks-differences';
import { asHostError } from '../linux/disks-errors';
import { smaller } from '../probe';
import { lengthen, type MemoryDisk, readDisk, withDisk } from './disk';

const PIECE_BYTES = 1n << 20n;

/** Disk files with nothing but node:fs: data is found by reading, and what is not zero is copied. */
export function createMemoryDisks(): DiskFiles {
  return {
    async ensureSize(file, sizeBytes) {
      const created = await createEmpty(file);
      try {
        await withDisk('ftruncate', file, 'r+', (disk) => lengthen(disk, file, sizeBytes));
      } catch (error) {
        if (created) await fs.rm(file, { force: true });
        throw error;
      }
    },

    async copySparse(source, target, signal) {
      signal?.throwIfAborted();
      const partial = `${target}.partial`;
      try {
        await withDisk('copySparse', source, 'r', (from) => copyFile(from, partial, target, signal));
      } catch (error) {
        throw signal?.aborted ? signal.reason : error;
      }
    },

    async *extents(file, from = 0n) {
      const disk = await openDisk('extents', file);
      try {
        yield* disk.dataExtents(from);
      } finally {
        await disk.handle.close();
      }
    },

    async *differences(base, target, blockSize, from = 0n) {
      const one = await openDisk('differences', base);
      try {
        const other = await openDisk('differences', target);
        try {
          yield* differences(one, other, blockSize, from);
        } finally {
          await other.handle.close();
        }
      } finally {
        await one.handle.close();
      }
    },
  };
}

/** @returns whether the file was not there before. */
async function createEmpty(file: string): Promise<boolean> {
  try {
    await (await fs.open(file, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw asHostError('ftruncate', file, error);
  }
}

async function openDisk(operation: string, file: string): Promise<MemoryDisk> {
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(file, 'r');
    return await readDisk(handle, file);
  } catch (error) {
    await handle?.close();
    throw asHostError(operation, file, error);
  }
}

async function copyFile(
  from: MemoryDisk,
  partial: string,
  target: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await withDisk('copySparse', partial, 'w+', (to) => copy(from, to, partial, signal));
    signal?.throwIfAborted();
    await fs.rename(partial, target);
  } catch (error) {
    await fs.rm(partial, { force: true });
    throw error;
  }
}

async function copy(from: MemoryDisk, to: MemoryDisk, file: string, signal?: AbortSignal): Promise<void> {
  await lengthen(to, file, from.sizeBytes);
  for await (const { offset, length } of from.dataExtents(0n)) {
    const end = offset + length;
    for (let at = offset; at < end; at += PIECE_BYTES) {
      signal?.throwIfAborted();
      await to.write(at, await from.read(at, Number(smaller(end - at, PIECE_BYTES))));
    }
  }
}
