import * as fs from 'node:fs';
import * as fc from 'fast-check';
import type { Extent } from '../../../../src/host/host';
import { NOTE_OFFSET } from '../../../../src/host/memory/disk';
import { GIB, MemoryMachine, MIB } from './machine';

let machine: MemoryMachine;

beforeEach(() => {
  machine = new MemoryMachine();
});

afterEach(() => machine.close());

const BLOCK = 4096;

async function all(extents: AsyncIterable<Extent>): Promise<Extent[]> {
  const found: Extent[] = [];
  for await (const extent of extents) found.push(extent);
  return found;
}

function write(file: string, offset: number, bytes: Buffer | string): void {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, Buffer.from(bytes), 0, bytes.length, offset);
  fs.closeSync(fd);
}

async function sizeOf(file: string): Promise<bigint | undefined> {
  const device = await machine.attach(file, { autoclear: true });
  const status = await machine.host.loops.status(device.index);
  await device.release();
  return status?.sizeBytes;
}

test.each([0n, 512n, 4096n, NOTE_OFFSET, NOTE_OFFSET + 512n, GIB, 1n << 60n, 2n ** 63n - 512n])(
  'a size of %d bytes is kept by the file, whoever moves or copies it',
  async (size) => {
    const file = await machine.disk('disk', size);
    expect(await sizeOf(file)).toBe(size);
    expect(fs.statSync(file).size).toBeLessThanOrEqual(Number(NOTE_OFFSET) + BLOCK);
    fs.renameSync(file, machine.at('moved'));
    expect(await sizeOf(machine.at('moved'))).toBe(size);
    await machine.host.disks.copySparse(machine.at('moved'), machine.at('copy'));
    expect(await sizeOf(machine.at('copy'))).toBe(size);
    expect(await all(machine.host.disks.extents(machine.at('copy')))).toEqual([]);
    expect(await machine.host.filesystems.probe(machine.at('copy'))).toEqual({ kind: 'blank' });
  },
);

test('a size only ever grows', async () => {
  const file = await machine.disk('disk', GIB);
  await machine.host.disks.ensureSize(file, MIB);
  expect(await sizeOf(file)).toBe(GIB);
  await machine.host.disks.ensureSize(file, 3n * GIB);
  expect(await sizeOf(file)).toBe(3n * GIB);
});

test('data written by anybody is kept, also behind the place of the note', async () => {
  const file = await machine.disk('disk', GIB);
  write(file, 8192, 'near');
  write(file, Number(NOTE_OFFSET) + 10 * BLOCK, 'far');
  expect(await all(machine.host.disks.extents(file))).toEqual([
    { offset: 8192n, length: 4096n },
    { offset: NOTE_OFFSET + 40960n, length: 3n },
  ]);
  await machine.host.disks.copySparse(file, machine.at('copy'));
  expect(await all(machine.host.disks.differences(file, machine.at('copy'), BLOCK))).toEqual([]);
  expect(await sizeOf(machine.at('copy'))).toBe(GIB);
  const other = await machine.disk('other', 16n);
  fs.truncateSync(other, Number(NOTE_OFFSET));
  fs.appendFileSync(other, 'data where the note would be');
  await expect(machine.host.disks.ensureSize(other, GIB)).rejects.toMatchObject({ errno: 'EFBIG' });
});

test('differences are what comparing every block finds', async () => {
  const writes = fc.array(
    fc.record({
      offset: fc.nat({ max: 60 * BLOCK }),
      value: fc.nat({ max: 2 }),
      length: fc.integer({ min: 1, max: 9000 }),
    }),
    { maxLength: 5 },
  );
  const sizes = fc.constantFrom(MIB, 2n * NOTE_OFFSET);
  await fc.assert(
    fc.asyncProperty(writes, writes, sizes, sizes, async (one, other, oneSize, otherSize) => {
      const made = [];
      for (const [name, size, shape] of [
        ['base', oneSize, one],
        ['target', otherSize, other],
      ] as const) {
        fs.rmSync(machine.at(name), { force: true });
        const file = await machine.disk(name, size);
        for (const { offset, value, length } of shape) write(file, offset, Buffer.alloc(length, value));
        made.push(fs.readFileSync(file).subarray(0, 80 * BLOCK));
      }
      const [left, right] = made as [Buffer, Buffer];
      const expected: Extent[] = [];
      for (let at = 0; at < left.length; at += BLOCK) {
        if (left.subarray(at, at + BLOCK).equals(right.subarray(at, at + BLOCK))) continue;
        const last = expected.at(-1);
        if (last !== undefined && last.offset + last.length === BigInt(at)) last.length += BigInt(BLOCK);
        else expected.push({ offset: BigInt(at), length: BigInt(BLOCK) });
      }
      expect(
        await all(machine.host.disks.differences(machine.at('base'), machine.at('target'), BLOCK)),
      ).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

test('a copy that is aborted or fails leaves nothing', async () => {
  const file = await machine.formatted('disk', GIB);
  const controller = new AbortController();
  const copy = machine.host.disks.copySparse(file, machine.at('copy'), controller.signal);
  controller.abort(new Error('the client gave up'));
  await expect(copy).rejects.toThrow('the client gave up');
  await expect(
    machine.host.disks.copySparse(machine.at('nowhere'), machine.at('copy')),
  ).rejects.toMatchObject({
    errno: 'ENOENT',
  });
  await expect(machine.host.disks.copySparse(file, machine.at('no/folder'))).rejects.toMatchObject({
    errno: 'ENOENT',
  });
  await expect(machine.host.disks.ensureSize(machine.at('no/folder'), MIB)).rejects.toMatchObject({
    errno: 'ENOENT',
  });
  expect(fs.readdirSync(machine.folder)).toEqual(['disk']);
});
