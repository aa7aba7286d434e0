import * as fs from 'node:fs/promises';
import { errnoOf } from '../../util/files';
import type { DiskFiles, Extent } from '../host';
import { type Libc, systemCallError } from '../libc';
import { Limiter } from '../libc/limiter';
import { type DiskReader, readFully } from '../probe';
import { clone, copyExtents } from './disks-copy';
import { differences } from './disks-differences';
import { asHostError } from './disks-errors';
import { dataExtents } from './disks-extents';

/**
 * Pieces of copies and comparisons in the thread pool at once, over all files: several copies together leave the
 * rest of the pool to everybody else.
 */
const PIECES_AT_ONCE = 2;

export interface DiskFilesDependencies {
  libc: Libc;
}

interface OpenDisk {
  disk: DiskReader;
  handle: fs.FileHandle;
}

export function createDiskFiles({ libc }: DiskFilesDependencies): DiskFiles {
  const pieces = new Limiter(PIECES_AT_ONCE);
  const turn = <T>(work: () => Promise<T>) => pieces.run(work);

  function readerOf(handle: fs.FileHandle, sizeBytes: bigint): DiskReader {
    const reader: DiskReader = {
      sizeBytes,
      read: (offset, length) => turn(() => readFully(handle, offset, length)),
      dataExtents: (from): AsyncIterable<Extent> => dataExtents(libc, handle.fd, reader, from),
    };
    return reader;
  }

  async function open(file: string, operation: string): Promise<OpenDisk> {
    let handle: fs.FileHandle | undefined;
    try {
      handle = await fs.open(file, 'r');
      return { disk: readerOf(handle, await sizeOf(handle)), handle };
    } catch (error) {
      await handle?.close();
      throw asHostError(operation, file, error);
    }
  }

  return {
    ensureSize: (file, sizeBytes) => ensureFileSize(file, sizeBytes),

    async copySparse(source, target, signal) {
      signal?.throwIfAborted();
      const partial = `${target}.partial`;
      const handles: fs.FileHandle[] = [];
      try {
        const from = await fs.open(source, 'r');
        handles.push(from);
        const to = await fs.open(partial, 'w', 0o600);
        handles.push(to);
        if (!(await clone(libc, from, to))) {
          const disk = readerOf(from, await sizeOf(from));
          await to.truncate(Number(disk.sizeBytes));
          await copyExtents(libc, from, to, disk.dataExtents(0n), turn, signal);
        }
        signal?.throwIfAborted();
        await fs.rename(partial, target);
      } catch (error) {
        if (handles.length === 2) await fs.rm(partial, { force: true }).catch(() => undefined);
        if (signal?.aborted) throw signal.reason;
        throw asHostError('copySparse', `${source} to ${target}`, error);
      } finally {
        await Promise.all(handles.map((handle) => handle.close()));
      }
    },

    async *extents(file, from = 0n) {
      const { disk, handle } = await open(file, 'extents');
      try {
        yield* disk.dataExtents(from);
      } catch (error) {
        throw asHostError('extents', file, error);
      } finally {
        await handle.close();
      }
    },

    async *differences(base, target, blockSize, from = 0n) {
      const one = await open(base, 'differences');
      try {
        const other = await open(target, 'differences');
        try {
          yield* differences(one.disk, other.disk, blockSize, from);
        } finally {
          await other.handle.close();
        }
      } catch (error) {
        throw asHostError('differences', `${base} and ${target}`, error);
      } finally {
        await one.handle.close();
      }
    },
  };
}

async function sizeOf(handle: fs.FileHandle): Promise<bigint> {
  return (await handle.stat({ bigint: true })).size;
}

/**
 * Makes a sparse file of `sizeBytes`, or lengthens one; never shortens. A file that could not get its size is not
 * left behind.
 * @throws HostError EFBIG, ENOSPC, ENOENT (no such folder), …
 */
async function ensureFileSize(file: string, sizeBytes: bigint): Promise<void> {
  let created = false;
  let handle: fs.FileHandle | undefined;
  try {
    try {
      handle = await fs.open(file, 'wx', 0o600);
      created = true;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
      handle = await fs.open(file, 'r+');
    }
    const { size } = await handle.stat({ bigint: true });
    if (size >= sizeBytes) return;
    // The largest length Node can pass on; ext4 ends at 16 TiB anyway, and says so itself.
    if (sizeBytes > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw systemCallError('EFBIG', { operation: 'ftruncate', subject: `${file} to ${sizeBytes} bytes` });
    }
    await handle.truncate(Number(sizeBytes));
  } catch (error) {
    if (created) await fs.rm(file, { force: true }).catch(() => undefined);
    throw asHostError('ftruncate', `${file} to ${sizeBytes} bytes`, error);
  } finally {
    await handle?.close();
  }
}
