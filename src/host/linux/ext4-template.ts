import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { errnoOf } from '../../util/files';
import { HostError } from '../host';
import { isErrno, type Libc, O } from '../libc';
import { type DiskReader, larger, readFully, smaller } from '../probe';
import { EXT_SUPERBLOCK_OFFSET, EXT_SUPERBLOCK_SIZE, parseExt } from '../probe/ext';
import { dataExtents, nonZeroExtents } from './disks-extents';
import { superblockOffsets } from './ext4-superblock';
import type { RunTool } from './filesystems-tools';

/** A filesystem as its bytes that are not zero; the superblocks apart, so that they can be written last. */
export interface Ext4Template {
  /** The primary is the last. */
  superblocks: readonly { offset: bigint; bytes: Buffer }[];
  pieces: readonly Piece[] | AsyncIterable<Piece>;
}

export interface Piece {
  offset: bigint;
  bytes: Buffer;
}

interface KeptTemplate extends Ext4Template {
  pieces: readonly Piece[];
  bytes: number;
}

const KEPT_TEMPLATES = 8;
const KEPT_BYTES = 16 << 20;
/** Metadata is some 16 MiB per TiB: a larger filesystem is made anew each time, not kept in memory. */
const LARGEST_KEPT = 256n << 30n;
const PIECE_BYTES = 1 << 20;
const MKFS_TIMEOUT_MS = 60_000;

/** `metadata_csum_seed` is what lets each copy have a UUID of its own. -m0: a volume's size is its user's, all of it. */
const MKFS_ARGS = ['-q', '-F', '-m0', '-O', 'metadata_csum,metadata_csum_seed'];
/** A sparse file is zeros already: the kernel need not write (and allocate) zeroed inode tables after the first mount. */
const PREZEROED = ['-E', 'nodiscard,assume_storage_prezeroed=1'];
/** The same for e2fsprogs before 1.47, but that the kernel does write them. */
const LAZY = ['-E', 'nodiscard,lazy_itable_init=1,lazy_journal_init=1'];

export interface Ext4Templates {
  /** Runs `use` with the template of a filesystem of `sizeBytes`. First uses of one size share one mkfs. */
  use<T>(sizeBytes: bigint, use: (template: Ext4Template) => Promise<T>): Promise<T>;
}

export function createExt4Templates(deps: { libc: Libc; cacheDir: string; runTool: RunTool }): Ext4Templates {
  const { libc } = deps;
  /** Least recently used first. */
  const kept = new Map<bigint, Promise<KeptTemplate>>();
  let options = PREZEROED;

  async function mkfs(handle: fs.FileHandle, sizeBytes: bigint, options: readonly string[]): Promise<void> {
    await handle.truncate(0);
    await handle.truncate(Number(sizeBytes));
    const args = [...MKFS_ARGS, ...options, '/proc/self/fd/3'];
    await deps.runTool('mkfs.ext4', { args, timeoutMs: MKFS_TIMEOUT_MS, fd: handle.fd });
  }

  async function mkfsAsKnown(handle: fs.FileHandle, sizeBytes: bigint): Promise<void> {
    try {
      await mkfs(handle, sizeBytes, options);
    } catch (error) {
      // Which of its options an mkfs did not know cannot be told from its last line: the older words decide.
      if (!isErrno(error, 'TOOL') || options === LAZY) throw error;
      await mkfs(handle, sizeBytes, LAZY);
      options = LAZY;
    }
  }

  /** An mkfs' result in a file that has no name: whatever becomes of this process, nothing is left. */
  async function withMade<T>(sizeBytes: bigint, use: (template: Ext4Template) => Promise<T>): Promise<T> {
    await fs.mkdir(deps.cacheDir, { recursive: true });
    const handle = await openNameless(deps.cacheDir);
    try {
      await mkfsAsKnown(handle, sizeBytes);
      return await use(await templateOf(libc, handle, sizeBytes));
    } finally {
      await handle.close();
    }
  }

  function shared(sizeBytes: bigint): Promise<KeptTemplate> {
    const known = kept.get(sizeBytes);
    if (known !== undefined) {
      kept.delete(sizeBytes);
      kept.set(sizeBytes, known);
      return known;
    }
    const made = withMade(sizeBytes, load);
    kept.set(sizeBytes, made);
    made.then(
      () => evict(kept),
      () => kept.delete(sizeBytes),
    );
    return made;
  }

  return {
    use: async (sizeBytes, use) =>
      sizeBytes > LARGEST_KEPT ? withMade(sizeBytes, use) : use(await shared(sizeBytes)),
  };
}

async function openNameless(folder: string): Promise<fs.FileHandle> {
  try {
    return await fs.open(folder, O.TMPFILE | O.RDWR, 0o600);
  } catch (error) {
    // Not every filesystem has O_TMPFILE (open(2)); a kernel without it opens the folder.
    if (!['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
  }
  const name = path.join(folder, `ext4-template-${randomBytes(8).toString('hex')}`);
  const handle = await fs.open(name, 'wx+', 0o600);
  await fs.unlink(name).catch(async (error) => {
    await handle.close();
    throw error;
  });
  return handle;
}

async function evict(kept: Map<bigint, Promise<KeptTemplate>>): Promise<void> {
  const sizes = await Promise.all(
    [...kept].map(async ([key, made]) => ({
      key,
      bytes: await made.then(
        (template) => template.bytes,
        () => 0,
      ),
    })),
  );
  let count = sizes.length;
  let bytes = sizes.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of sizes) {
    if (count <= KEPT_TEMPLATES && bytes <= KEPT_BYTES) return;
    kept.delete(entry.key);
    count--;
    bytes -= entry.bytes;
  }
}

async function load(template: Ext4Template): Promise<KeptTemplate> {
  const pieces: Piece[] = [];
  let bytes = 0;
  for await (const piece of template.pieces) {
    pieces.push(piece);
    bytes += piece.bytes.length;
  }
  return { superblocks: template.superblocks, pieces, bytes };
}

async function templateOf(libc: Libc, handle: fs.FileHandle, sizeBytes: bigint): Promise<Ext4Template> {
  const primary = await readFully(handle, BigInt(EXT_SUPERBLOCK_OFFSET), EXT_SUPERBLOCK_SIZE);
  const finding = parseExt(primary);
  if (finding?.kind !== 'filesystem') {
    const found = finding?.what ?? 'no superblock';
    throw new HostError(
      'TOOL',
      'mkfs.ext4',
      `mkfs.ext4 succeeded, but left ${found} on a disk of ${sizeBytes} bytes`,
    );
  }
  const superblocks = await Promise.all(
    superblockOffsets(primary).map(async (offset) => ({
      offset,
      bytes: await readFully(handle, offset, EXT_SUPERBLOCK_SIZE),
    })),
  );
  const disk: DiskReader = {
    sizeBytes,
    async read(offset, length) {
      const bytes = await readFully(handle, offset, length);
      for (const superblock of superblocks) blankOut(bytes, offset, superblock.offset);
      return bytes;
    },
    dataExtents: (from) => dataExtents(libc, handle.fd, disk, from),
  };
  return { superblocks, pieces: piecesOf(disk) };
}

function blankOut(bytes: Buffer, offset: bigint, superblock: bigint): void {
  const start = larger(superblock, offset);
  const end = smaller(superblock + BigInt(EXT_SUPERBLOCK_SIZE), offset + BigInt(bytes.length));
  if (start < end) bytes.fill(0, Number(start - offset), Number(end - offset));
}

/** mkfs writes zeros too; in a sparse file they go without saying. */
async function* piecesOf(disk: DiskReader): AsyncGenerator<Piece> {
  for await (const extent of disk.dataExtents(0n)) {
    const window = { read: disk.read, sizeBytes: extent.offset + extent.length };
    for await (const run of nonZeroExtents(window, extent.offset)) {
      const end = run.offset + run.length;
      for (let offset = run.offset; offset < end; offset += BigInt(PIECE_BYTES)) {
        yield { offset, bytes: await disk.read(offset, Number(smaller(end - offset, BigInt(PIECE_BYTES)))) };
      }
    }
  }
}
