import * as fc from 'fast-check';
import { type Extent, HostError } from '../../../../src/host/host';
import { createLibc, type Libc } from '../../../../src/host/libc';
import { dataExtents, nonZeroExtents } from '../../../../src/host/linux/disks-extents';
import { sparseDisk } from '../probe/sparse-disk';

const BLOCK = 4096;

async function all(extents: AsyncIterable<Extent>): Promise<Extent[]> {
  const found: Extent[] = [];
  for await (const extent of extents) found.push(extent);
  return found;
}

function lseekFails(errno: string): Libc {
  return {
    ...createLibc(),
    lseek: () => Promise.reject(new HostError(errno, 'lseek', `lseek: ${errno}`)),
  };
}

test('a scan finds the runs of blocks that are not zero, whatever was written as zeros', async () => {
  const blocks = fc.array(fc.record({ index: fc.nat({ max: 600 }), value: fc.nat({ max: 1 }) }), {
    maxLength: 12,
  });
  const cases = fc.record({
    blocks,
    size: fc.integer({ min: 0, max: 610 * BLOCK }),
    from: fc.nat({ max: 610 * BLOCK }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ blocks: written, size, from }) => {
      const parts: Record<number, Buffer> = {};
      for (const { index, value } of written) parts[index * BLOCK] = Buffer.alloc(BLOCK, value);
      const disk = sparseDisk(BigInt(size), parts);
      const found = await all(nonZeroExtents(disk, BigInt(from)));
      const covered = new Set<number>();
      let last = -1n;
      for (const { offset, length } of found) {
        expect(offset).toBeGreaterThan(last);
        last = offset + length;
        for (let at = offset; at < last; at = at - (at % 4096n) + 4096n) covered.add(Number(at / 4096n));
      }
      const expected = Object.entries(parts)
        .filter(([, bytes]) => bytes[0] === 1)
        .map(([offset]) => Number(offset) / BLOCK)
        .filter((index) => Math.max(index * BLOCK, from) < Math.min(size, (index + 1) * BLOCK));
      expect([...covered].sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
    }),
  );
});

test('where the file cannot tell its holes, it is scanned', async () => {
  const disk = sparseDisk(1n << 24n, { [5 * BLOCK]: Buffer.alloc(10, 1) });
  expect(await all(dataExtents(lseekFails('EINVAL'), -1, disk, 0n))).toEqual([
    { offset: BigInt(5 * BLOCK), length: BigInt(BLOCK) },
  ]);
});

test('no data behind the offset is an end, a disk that fails is an error', async () => {
  const disk = sparseDisk(1n << 24n, { 0: Buffer.alloc(10, 1) });
  expect(await all(dataExtents(lseekFails('ENXIO'), -1, disk, 0n))).toEqual([]);
  await expect(all(dataExtents(lseekFails('EIO'), -1, disk, 0n))).rejects.toMatchObject({ errno: 'EIO' });
});
