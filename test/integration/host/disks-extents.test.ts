import * as fs from 'node:fs';
import * as fc from 'fast-check';
import type { Extent } from '../../../src/host/host';
import { all, write } from './disks-support';
import { eachOnMachine, type Machine } from './filesystems-machine';

const MIB = 1n << 20n;

let machine: Machine;
eachOnMachine((fresh) => {
  machine = fresh;
});

describe('extents and differences of real files', () => {
  const BLOCK = 4096;
  const writes = fc.array(
    fc.record({
      offset: fc.nat({ max: 200 * BLOCK }),
      length: fc.integer({ min: 1, max: 3 * BLOCK }),
      value: fc.nat({ max: 2 }),
    }),
    { maxLength: 6 },
  );
  const file = fc.record({ writes, behind: fc.nat({ max: 20 * BLOCK }) });
  type Shape = { writes: { offset: number; length: number; value: number }[]; behind: number };

  function make(name: string, shape: Shape): { name: string; content: Buffer } {
    fs.writeFileSync(name, '');
    for (const { offset, length, value } of shape.writes) write(name, offset, Buffer.alloc(length, value));
    fs.truncateSync(name, fs.statSync(name).size + shape.behind);
    return { name, content: fs.readFileSync(name) };
  }

  test('extents are ascending, apart, and hold all that is not zero', async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.nat({ max: 210 * BLOCK }), async (shape, from) => {
        const { name, content } = make(machine.at('file'), shape);
        const rest = Buffer.from(content);
        let end = BigInt(from) - 1n;
        for (const extent of await all(machine.host.disks.extents(name, BigInt(from)))) {
          expect(extent.offset).toBeGreaterThan(end);
          expect(extent.length).toBeGreaterThan(0n);
          end = extent.offset + extent.length;
          expect(end).toBeLessThanOrEqual(BigInt(content.length));
          rest.fill(0, Number(extent.offset), Number(end));
        }
        expect(rest.subarray(from).every((byte) => byte === 0)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('differences are what comparing every block finds', async () => {
    const blockSizes = fc.constantFrom(512, 4096, 5000, 65536);
    await fc.assert(
      fc.asyncProperty(file, file, blockSizes, async (one, other, blockSize) => {
        const base = make(machine.at('base'), one);
        const target = make(machine.at('target'), other);
        const length = Math.max(base.content.length, target.content.length);
        const padded = [base, target].map(({ content }) =>
          Buffer.concat([content, Buffer.alloc(length - content.length)]),
        );
        const expected: Extent[] = [];
        for (let at = 0; at < length; at += blockSize) {
          const end = Math.min(at + blockSize, length);
          const [left, right] = padded.map((content) => content.subarray(at, end)) as [Buffer, Buffer];
          if (left.equals(right)) continue;
          const last = expected.at(-1);
          if (last !== undefined && last.offset + last.length === BigInt(at)) last.length += BigInt(end - at);
          else expected.push({ offset: BigInt(at), length: BigInt(end - at) });
        }
        expect(await all(machine.host.disks.differences(base.name, target.name, blockSize))).toEqual(
          expected,
        );
      }),
      { numRuns: 60 },
    );
  });

  test('a reader who stops early leaves no descriptor open', async () => {
    const open = () => fs.readdirSync('/proc/self/fd').length;
    const name = await machine.disk(64n * MIB);
    for (let index = 0; index < 5; index++) write(name, index << 20, Buffer.from('x'));
    const other = await machine.disk(64n * MIB);
    const before = open();
    for await (const extent of machine.host.disks.extents(name)) {
      expect(extent.offset).toBe(0n);
      break;
    }
    for await (const range of machine.host.disks.differences(other, name, 4096)) {
      expect(range).toEqual({ offset: 0n, length: 4096n });
      break;
    }
    expect(open()).toBe(before);
  });

  test('a file that is not there is ENOENT', async () => {
    const { disks } = machine.host;
    const there = await machine.disk(MIB);
    await expect(all(disks.extents(machine.at('nowhere')))).rejects.toMatchObject({ errno: 'ENOENT' });
    await expect(all(disks.differences(there, machine.at('nowhere'), 512))).rejects.toMatchObject({
      errno: 'ENOENT',
    });
  });
});
