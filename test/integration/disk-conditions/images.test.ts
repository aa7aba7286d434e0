import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { writeSwap } from '../../../src/faults/disk/swap-image';
import { writeVfat } from '../../../src/faults/disk/vfat-image';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const MIB = 1n << 20n;

/** A sparse file with one of them; what blkid says of it. */
async function identified(write: typeof writeVfat, size: bigint): Promise<Record<string, string>> {
  const file = path.join(machine.folder(), 'image');
  const handle = await fs.open(file, 'wx+');
  try {
    await handle.truncate(Number(size));
    await write(handle, size);
  } finally {
    await handle.close();
  }
  const said = machine.run('blkid', '-p', '-o', 'export', file);
  return Object.fromEntries(said.split('\n').map((line) => line.split('=') as [string, string]));
}

// Clusters of 1, 8 and 32 sectors; a size that is no whole number of sectors.
it.each([64n * MIB, 1024n * MIB, 5n << 40n, 100n * MIB + 4097n])(
  'a vfat of %d bytes is one',
  async (size) => {
    expect(await identified(writeVfat, size)).toMatchObject({
      TYPE: 'vfat',
      VERSION: 'FAT32',
      UUID: expect.stringMatching(/^[0-9A-F]{4}-[0-9A-F]{4}$/),
    });
  },
);

it.each([MIB, 64n * MIB, 8n << 40n])('swap space of %d bytes is that', async (size) => {
  expect(await identified(writeSwap, size)).toMatchObject({
    TYPE: 'swap',
    VERSION: '1',
    UUID: expect.any(String),
  });
});
