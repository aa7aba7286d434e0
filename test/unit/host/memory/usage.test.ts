import * as fc from 'fast-check';
import { FS_TYPES } from '../../../../src/host/host';
import { MINIMUM_BYTES } from '../../../../src/host/probe';
import { GIB, MemoryMachine, MIB } from './machine';

let machine: MemoryMachine;

beforeEach(() => {
  machine = new MemoryMachine();
});

afterEach(() => machine.close());

test('used and available never exceed total, whatever the size', async () => {
  const cases = fc.record({
    fsType: fc.constantFrom(...FS_TYPES),
    surplus: fc.bigInt({ min: 0n, max: 1n << 60n }),
  });
  let made = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ fsType, surplus }) => {
      const { target } = await machine.mounted(`volume-${made++}`, MINIMUM_BYTES[fsType] + surplus, fsType);
      const { bytes, inodes } = await machine.host.mounts.usage(target);
      for (const { total, used, available } of [bytes, inodes]) {
        expect(used).toBeGreaterThanOrEqual(0n);
        expect(available).toBeGreaterThanOrEqual(0n);
        expect(used + available).toBeLessThanOrEqual(total);
      }
      expect(bytes.total).toBeLessThanOrEqual(MINIMUM_BYTES[fsType] + surplus);
      expect(bytes.available).toBeGreaterThan(0n);
    }),
    { numRuns: 40 },
  );
});

test('is what was filled, up to full, and the same through every mount of the filesystem', async () => {
  const { mounts, control } = machine.host;
  const { target } = await machine.mounted('stage', GIB);
  const pod = await machine.bind(target, machine.makeFolder('pod'));
  const empty = await mounts.usage(target);
  await control.fill(pod, { bytes: empty.bytes.available, inodes: 5n });
  const full = await mounts.usage(target);
  expect(full.bytes).toEqual({ total: empty.bytes.total, used: empty.bytes.total, available: 0n });
  expect(full.inodes.used).toBe(empty.inodes.used + 5n);
  expect(await mounts.usage(pod)).toEqual(full);
  await expect(control.fill(pod, { bytes: empty.bytes.available + 1n })).rejects.toMatchObject({
    errno: 'ENOSPC',
  });
  await control.fill(target, {});
  expect(await mounts.usage(target)).toEqual(empty);
});

test('of a tmpfs follows its size, which cannot shrink below what it holds', async () => {
  const { mounts, control } = machine.host;
  const target = machine.makeFolder('shm');
  await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options: ['size=16m'] });
  expect((await mounts.usage(target)).bytes).toEqual({ total: 16n * MIB, used: 0n, available: 16n * MIB });
  await control.fill(target, { bytes: 10n * MIB });
  await expect(mounts.resizeTmpfs(target, 9n * MIB)).rejects.toMatchObject({ errno: 'EINVAL' });
  await mounts.resizeTmpfs(target, 32n * MIB);
  expect((await mounts.usage(target)).bytes).toMatchObject({ total: 32n * MIB, available: 22n * MIB });
  const { target: disk } = await machine.mounted('stage', GIB);
  await expect(mounts.resizeTmpfs(disk, GIB)).rejects.toMatchObject({ errno: 'EINVAL' });
  const options = ['size=lots'];
  const bad = mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options });
  await expect(bad).rejects.toMatchObject({ errno: 'EINVAL', option: 'size' });
});

test('of a folder of the machine is the machine’s own', async () => {
  const folder = machine.makeFolder('folder');
  const bound = await machine.bind(folder, machine.makeFolder('pod'));
  const { bytes } = await machine.host.mounts.usage(bound);
  expect(bytes.total).toBeGreaterThan(0n);
  await expect(machine.host.mounts.usage(machine.at('nowhere'))).rejects.toMatchObject({ errno: 'ENOENT' });
});
