import { type Extent, HostError } from '../host';
import { type DiskReader, larger, smaller } from '../probe';

/** Bytes compared at once, whatever the block size: bounds memory, and how long one read keeps a thread. */
const CHUNK = 1 << 20;

/**
 * Ranges in which `target` differs from `base`, in whole blocks from the block that holds `from` on, ascending, with
 * neighbours joined; the last range ends where the longer disk does. Only where either has data is anything read:
 * a hole, and what lies behind the shorter one's end, is zeros.
 */
export async function* differences(
  base: DiskReader,
  target: DiskReader,
  blockSize: number,
  from: bigint,
): AsyncGenerator<Extent> {
  if (!Number.isSafeInteger(blockSize) || blockSize < 1) {
    throw new HostError(
      'EINVAL',
      'differences',
      `differences: the block size is a whole number of bytes above 0, not ${blockSize}`,
    );
  }
  const block = BigInt(blockSize);
  const end = larger(base.sizeBytes, target.sizeBytes);
  const start = from - (from % block);
  let pending: Extent | null = null;
  for await (const found of differingBlocks(base, target, block, start)) {
    const stop = smaller(found + block, end);
    if (pending !== null && pending.offset + pending.length === found) {
      pending.length = stop - pending.offset;
    } else {
      if (pending !== null) yield pending;
      pending = { offset: found, length: stop - found };
    }
  }
  if (pending !== null) yield pending;
}

/** Offsets of the blocks that differ, ascending, each once. */
async function* differingBlocks(
  base: DiskReader,
  target: DiskReader,
  block: bigint,
  start: bigint,
): AsyncGenerator<bigint> {
  let offset = start;
  for await (const extent of union(base.dataExtents(start), target.dataExtents(start))) {
    const stop = extent.offset + extent.length;
    // A block found to differ was passed as a whole, perhaps beyond this extent's start.
    if (extent.offset > offset) offset = extent.offset;
    while (offset < stop) {
      const length = Number(smaller(stop - offset, BigInt(CHUNK)));
      const [one, other] = await Promise.all([
        readPadded(base, offset, length),
        readPadded(target, offset, length),
      ]);
      let next = offset + BigInt(length);
      for (const found of blocksOf(one, other, offset, block)) {
        yield found;
        next = larger(next, found + block);
      }
      offset = next;
    }
  }
}

/** Blocks in which two equally long pieces, both of which begin at `offset`, differ. */
function* blocksOf(one: Buffer, other: Buffer, offset: bigint, block: bigint): Generator<bigint> {
  if (one.equals(other)) return;
  let at = 0;
  while (at < one.length) {
    const position = offset + BigInt(at);
    const first = position - (position % block);
    const left = first + block - position;
    const stop = left < one.length - at ? at + Number(left) : one.length;
    if (!one.subarray(at, stop).equals(other.subarray(at, stop))) yield first;
    at = stop;
  }
}

async function readPadded(disk: DiskReader, offset: bigint, length: number): Promise<Buffer> {
  const bytes = offset < disk.sizeBytes ? await disk.read(offset, length) : Buffer.alloc(0);
  return bytes.length === length ? bytes : Buffer.concat([bytes, Buffer.alloc(length - bytes.length)]);
}

/** What either of two ascending lists covers, joined where they touch. */
export async function* union(
  one: AsyncIterable<Extent>,
  other: AsyncIterable<Extent>,
): AsyncGenerator<Extent> {
  const iterators = [one[Symbol.asyncIterator](), other[Symbol.asyncIterator]()] as const;
  try {
    let [a, b] = await Promise.all([iterators[0].next(), iterators[1].next()]);
    let pending: Extent | null = null;
    while (!a.done || !b.done) {
      let next: Extent;
      if (b.done || (!a.done && a.value.offset <= b.value.offset)) {
        next = a.value as Extent;
        a = await iterators[0].next();
      } else {
        next = b.value;
        b = await iterators[1].next();
      }
      if (pending !== null && next.offset <= pending.offset + pending.length) {
        const stop = next.offset + next.length;
        if (stop > pending.offset + pending.length) pending.length = stop - pending.offset;
      } else {
        if (pending !== null) yield pending;
        pending = { offset: next.offset, length: next.length };
      }
    }
    if (pending !== null) yield pending;
  } finally {
    await Promise.all(iterators.map((iterator) => iterator.return?.()));
  }
}
