import * as fs from 'node:fs';
import * as path from 'node:path';
import type { FsType } from '../../../src/host/host';
import { checkExt4, eachOnMachine, type Machine } from './filesystems-machine';

const MIB = 1n << 20n;

let machine: Machine;
eachOnMachine((fresh) => {
  machine = fresh;
});

/** Bit 24 of the effective set (linux/capability.h). */
function hasSysResource(): boolean {
  const effective = /^CapEff:\s+([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}

const content = Buffer.alloc(100_000, 'kept');

async function lengthen(file: string, index: number, sizeBytes: bigint): Promise<void> {
  await machine.host.disks.ensureSize(file, sizeBytes);
  await machine.host.loops.refreshSize(index);
}

describe.each<FsType>(['xfs', 'btrfs'])('%s', (fsType) => {
  test('grows while it is mounted, once', async () => {
    const file = await machine.formatted(400n * MIB, fsType);
    await machine.mounted(file, fsType, async (mountPoint, device) => {
      fs.writeFileSync(path.join(mountPoint, 'file'), content);
      const before = await machine.host.mounts.usage(mountPoint);
      await lengthen(file, device.index, 801n * MIB);
      await machine.host.filesystems.growMounted(mountPoint, fsType);
      const after = await machine.host.mounts.usage(mountPoint);
      expect(after.bytes.total - before.bytes.total).toBeGreaterThanOrEqual(390n * MIB);
      await machine.host.filesystems.growMounted(mountPoint, fsType);
      expect((await machine.host.mounts.usage(mountPoint)).bytes.total).toBe(after.bytes.total);
    });
    expect(await machine.host.filesystems.probe(file)).toMatchObject({ sizeBytes: 801n * MIB });
    await machine.mounted(file, fsType, async (mountPoint) => {
      expect(fs.readFileSync(path.join(mountPoint, 'file')).equals(content)).toBe(true);
    });
  });

  test('a rest too short to be used is nothing to do', async () => {
    const file = await machine.formatted(400n * MIB, fsType);
    await machine.mounted(file, fsType, async (mountPoint, device) => {
      await lengthen(file, device.index, 400n * MIB + 1024n);
      await machine.host.filesystems.growMounted(mountPoint, fsType);
      await lengthen(file, device.index, 400n * MIB + 8192n);
      await machine.host.filesystems.growMounted(mountPoint, fsType);
    });
  });

  test('does not grow unmounted', async () => {
    await expect(machine.host.filesystems.growOffline('/nowhere', fsType)).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringContaining('while it is mounted'),
    });
  });
});

describe('ext4', () => {
  test('grows while it is mounted, where the process has the capability', async () => {
    const file = await machine.formatted(64n * MIB, 'ext4');
    await machine.mounted(file, 'ext4', async (mountPoint, device) => {
      fs.writeFileSync(path.join(mountPoint, 'file'), content);
      await machine.host.filesystems.growMounted(mountPoint, 'ext4');
      await lengthen(file, device.index, 200n * MIB);
      const growth = machine.host.filesystems.growMounted(mountPoint, 'ext4');
      if (!hasSysResource()) {
        await expect(growth).rejects.toMatchObject({
          errno: 'EPERM',
          operation: 'EXT4_IOC_RESIZE_FS',
          message: expect.stringContaining('CAP_SYS_RESOURCE'),
        });
        return;
      }
      await growth;
      const { bytes } = await machine.host.mounts.usage(mountPoint);
      expect(bytes.total).toBeGreaterThan(170n * MIB);
      await machine.host.filesystems.growMounted(mountPoint, 'ext4');
    });
    checkExt4(file);
  });

  test('grows unmounted, also after a crash, and keeps what it holds', async () => {
    const file = await machine.formatted(16n * MIB, 'ext4');
    const crashed = machine.at('crashed');
    await machine.mounted(file, 'ext4', async (mountPoint) => {
      fs.writeFileSync(path.join(mountPoint, 'file'), content);
      await machine.host.mounts.sync(mountPoint);
      // The bytes of a mounted filesystem: its journal still has to be replayed.
      await machine.host.disks.copySparse(file, crashed);
    });
    for (const disk of [file, crashed]) {
      await machine.host.disks.ensureSize(disk, 200n * MIB + 512n);
      await machine.host.filesystems.growOffline(disk, 'ext4');
      checkExt4(disk);
      expect(await machine.host.filesystems.probe(disk)).toMatchObject({ sizeBytes: 200n * MIB });
      await machine.host.filesystems.growOffline(disk, 'ext4');
      await machine.mounted(disk, 'ext4', async (mountPoint) => {
        expect(fs.readFileSync(path.join(mountPoint, 'file')).equals(content)).toBe(true);
      });
    }
  });

  test('that cannot be checked is not resized, and e2fsck says why', async () => {
    const file = await machine.formatted(16n * MIB, 'ext4');
    fs.truncateSync(file, 8 << 20);
    await expect(machine.host.filesystems.growOffline(file, 'ext4')).rejects.toMatchObject({
      errno: 'TOOL',
      operation: 'e2fsck',
    });
  });
});

test('a small btrfs is as large as its device, or says that it cannot grow', async () => {
  const file = await machine.formatted(128n * MIB, 'btrfs');
  await machine.mounted(file, 'btrfs', async (mountPoint, device) => {
    await machine.host.filesystems.growMounted(mountPoint, 'btrfs');
    await lengthen(file, device.index, 200n * MIB);
    await expect(machine.host.filesystems.growMounted(mountPoint, 'btrfs')).rejects.toMatchObject({
      errno: 'EINVAL',
      message: expect.stringContaining('grows to 256 MiB or more only, and its device has 209715200 bytes'),
    });
    await lengthen(file, device.index, 256n * MIB);
    await machine.host.filesystems.growMounted(mountPoint, 'btrfs');
    expect((await machine.host.mounts.usage(mountPoint)).bytes.total).toBe(256n * MIB);
  });
});
