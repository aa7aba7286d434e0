import * as fc from 'fast-check';
import type { Extent } from '../../../../src/host/host';
import { differences, union } from '../../../../src/host/linux/disks-differences';
import { sparseDisk } from '../probe/sparse-disk';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function* listed(extents: readonly Extent[]): AsyncGenerator<Extent> {
  yield* extents;
}

/** Pieces of data (some of them zeros) with holes between, as offsets and bytes. */
const parts = fc
  .array(
    fc.record({
      gap: fc.nat({ max: 9000 }),
      length: fc.integer({ min: 1, max: 3000 }),
      value: fc.nat({ max: 2 }),
    }),
    {
      maxLength: 6,
    },
  )
  .map((pieces) => {
    const made: Record<number, Buffer> = {};
    let at = 0;
    for (const { gap, length, value } of pieces) {
      made[at + gap] = Buffer.alloc(length, value);
      at += gap + length;
    }
    return { end: at, made };
  });

const disk = fc.record({ parts, behind: fc.nat({ max: 5000 }) }).map(({ parts: { end, made }, behind }) => ({
  size: end + behind,
  parts: made,
}));

function contentOf(
  { size, parts: written }: { size: number; parts: Record<number, Buffer> },
  length: number,
): Buffer {
  const content = Buffer.alloc(length);
  for (const [offset, bytes] of Object.entries(written)) bytes.copy(content, Number(offset));
  expect(size).toBeLessThanOrEqual(length);
  return content;
}

test('are what comparing every block finds, joined', async () => {
  const cases = fc.record({
    base: disk,
    target: disk,
    blockSize: fc.integer({ min: 1, max: 5000 }),
    from: fc.nat({ max: 30_000 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ base, target, blockSize, from }) => {
      const length = Math.max(base.size, target.size);
      const one = contentOf(base, length);
      const other = contentOf(target, length);
      const expected: Extent[] = [];
      for (let at = from - (from % blockSize); at < length; at += blockSize) {
        const end = Math.min(at + blockSize, length);
        if (one.subarray(at, end).equals(other.subarray(at, end))) continue;
        const last = expected.at(-1);
        if (last !== undefined && last.offset + last.length === BigInt(at)) last.length += BigInt(end - at);
        else expected.push({ offset: BigInt(at), length: BigInt(end - at) });
      }
      const found = await all(
        differences(
          sparseDisk(BigInt(base.size), base.parts),
          sparseDisk(BigInt(target.size), target.parts),
          blockSize,
          BigInt(from),
        ),
      );
      expect(found).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test('a block larger than what is read at once is reported once, and the rest of it is not read', async () => {
  const base = sparseDisk(1n << 30n, {});
  const target = sparseDisk(1n << 30n, { 5: Buffer.from([1]), [100 << 20]: Buffer.alloc(4 << 20, 1) });
  const found = await all(differences(base, target, 256 << 20, 0n));
  expect(found).toEqual([{ offset: 0n, length: 256n << 20n }]);
  expect(target.bytesRead()).toBeLessThan(2n << 20n);
});

test('holes on both sides are not read', async () => {
  const base = sparseDisk(1n << 60n, { 0: Buffer.alloc(4096, 7) });
  const target = sparseDisk(1n << 60n, { 0: Buffer.alloc(4096, 7), 8192: Buffer.alloc(4096) });
  expect(await all(differences(base, target, 4096, 0n))).toEqual([]);
  expect(base.bytesRead() + target.bytesRead()).toBe(4n * 4096n);
});

test.each([0, -1, 1.5, Number.NaN])('a block size of %d is refused', async (blockSize) => {
  const empty = sparseDisk(1n, {});
  await expect(all(differences(empty, empty, blockSize, 0n))).rejects.toMatchObject({ errno: 'EINVAL' });
});

test('a reader who stops early ends both sides', async () => {
  const ended: string[] = [];
  async function* side(name: string): AsyncGenerator<Extent> {
    try {
      for (let offset = 0n; ; offset += 10n) yield { offset, length: 5n };
    } finally {
      ended.push(name);
    }
  }
  for await (const extent of union(side('one'), side('other'))) {
    expect(extent).toEqual({ offset: 0n, length: 5n });
    break;
  }
  expect(ended.sort()).toEqual(['one', 'other']);
});

test('a union joins what overlaps or touches', async () => {
  const one = listed([
    { offset: 0n, length: 10n },
    { offset: 30n, length: 10n },
  ]);
  const other = listed([
    { offset: 2n, length: 3n },
    { offset: 10n, length: 5n },
    { offset: 50n, length: 1n },
  ]);
  expect(await all(union(one, other))).toEqual([
    { offset: 0n, length: 15n },
    { offset: 30n, length: 10n },
    { offset: 50n, length: 1n },
  ]);
});
