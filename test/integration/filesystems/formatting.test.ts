import { createHash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { HostError } from '../../../src/host/host';
import { keyOf } from '../../../src/util/keys';
import type { TestDriver } from '../../support/driver';
import { KINDS } from '../../support/kinds';
import {
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  release,
  stage,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const diskOf = (id: string, of = driver) => path.join(of.dataDir, 'volumes', keyOf(id), 'disk.img');
const staging = (id: string, fsType: string, size = 64 * MIB) => ({
  id,
  options: { capability: mountCapability({ fsType }), size },
});

/** Of what is on a disk, and where: its blocks that are not zero. */
async function digestOf(disk: string): Promise<string> {
  const hash = createHash('sha256');
  const handle = await fs.open(disk, 'r');
  try {
    for await (const { offset, length } of machine.host.disks.extents(disk)) {
      const { buffer } = await handle.read(Buffer.alloc(Number(length)), 0, Number(length), Number(offset));
      for (let at = 0; at < buffer.length; at += BLOCK.length) {
        const block = buffer.subarray(at, at + BLOCK.length);
        if (!block.equals(BLOCK.subarray(0, block.length)))
          hash.update(`${offset + BigInt(at)}`).update(block);
      }
    }
  } finally {
    await handle.close();
  }
  return hash.digest('hex');
}
const BLOCK = Buffer.alloc(4096);

/** Tries to stage and must not change a byte. */
async function refused(id: string, fsType: string, of = driver) {
  const disk = diskOf(id, of);
  const before = await digestOf(disk);
  const error = await stage(of, id, { capability: mountCapability({ fsType }) }).catch((thrown) => thrown);
  expect(await digestOf(disk)).toBe(before);
  expect(machine.loops(of.dataDir)).toEqual([]);
  await of.csi.ControllerUnpublishVolume({ volume_id: id });
  return error;
}

describe.each([
  [
    'a GPT partition table',
    (disk: string) => machine.run('sh', '-c', `printf 'EFI PART' | dd of=${disk} bs=512 seek=1 conv=notrunc`),
  ],
  [
    'bytes that nobody knows',
    (disk: string) =>
      machine.run('sh', '-c', `printf 'precious' | dd of=${disk} bs=4096 seek=300 conv=notrunc`),
  ],
  ['a swap area', (disk: string) => machine.run('mkswap', disk)],
  [
    'an ext4 with a broken superblock',
    async (disk: string) => {
      machine.run('mkfs.ext4', '-q', disk);
      machine.run('sh', '-c', `printf 'xx' | dd of=${disk} bs=1 seek=1100 conv=notrunc`);
    },
  ],
  [
    'an ext4 whose front was wiped',
    async (disk: string) => {
      machine.run('mkfs.ext4', '-q', '-b', '1024', disk);
      machine.run('dd', 'if=/dev/zero', `of=${disk}`, 'bs=1024', 'count=64', 'conv=notrunc');
    },
  ],
])('a disk that holds %s', (_, fill) => {
  it.each(['ext4', 'xfs', ''])('is never formatted, whatever is asked for: %j', async (fsType) => {
    const id = await createVolume(driver, { size: 16 * MIB });
    await fill(diskOf(id));
    expect(await refused(id, fsType)).toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('never formatted over'),
    });
    await driver.csi.DeleteVolume({ volume_id: id });
  });
});

it('a disk that cannot be read is never formatted, and is staged when it can be', async () => {
  const broken = { now: true };
  const { filesystems } = machine.host;
  const host = {
    ...machine.host,
    filesystems: {
      ...filesystems,
      probe: async (disk: string) => {
        if (broken.now) throw new HostError('EIO', 'read', `read: ${disk}: EIO at byte 1024`);
        return filesystems.probe(disk);
      },
    },
  };
  const own = await machine.start({ host });
  const { id } = staging(await createVolume(own, KINDS.ext4.options()), 'ext4');
  expect(await refused(id, 'ext4', own)).toMatchObject({
    code: Code.INTERNAL,
    message: expect.stringContaining('EIO at byte 1024'),
  });
  broken.now = false;
  const used = await stage(own, id, KINDS.ext4.options());
  await publish(own, used);
  await fs.writeFile(path.join(used.target, 'file'), 'data');
  broken.now = true;
  await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
  await own.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
  expect(await refused(id, 'ext4', own)).toMatchObject({ code: Code.INTERNAL });
  broken.now = false;
  const again = await stage(own, id, KINDS.ext4.options());
  expect(await fs.readFile(path.join(again.staging, 'file'), 'utf8')).toBe('data');
  await release(own, again);
});

it.each([
  ['xfs', 'ext4'],
  ['ext4', 'xfs'],
  ['ext4', 'btrfs'],
  ['btrfs', 'ext4'],
] as const)('a disk with %s is not staged as %s, and the kernel says why', async (onDisk, wanted) => {
  const id = await createVolume(driver, { size: 320 * MIB });
  machine.run(`mkfs.${onDisk}`, '-q', diskOf(id));
  const error = await refused(id, wanted);
  expect(error).toMatchObject({ code: Code.FAILED_PRECONDITION });
  expect(error.message).toMatch(
    new RegExp(
      `asked for ${wanted}, but the disk holds ${onDisk}; the kernel: mount: .*${wanted} on /dev/loop\\d+: .*`,
    ),
  );
  // Without a wish, what is on the disk is used.
  await release(driver, await stage(driver, id, { capability: mountCapability() }));
});

it('the filesystem of the capability is made, and found again when none is named', async () => {
  for (const kind of [KINDS.ext4, KINDS.xfs, KINDS.btrfs]) {
    const used = await use(driver, kind.options());
    expect((await machine.mountsAt(used.target))[0]?.fsType).toBe(kind.name);
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    await driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
    const again = await stage(driver, used.id, { capability: mountCapability() });
    expect((await machine.mountsAt(again.staging))[0]?.fsType).toBe(kind.name);
    await release(driver, again);
  }
});

it('an unclean xfs is mounted, which replays its log, and not repaired', async () => {
  const used = await use(driver, KINDS.xfs.options());
  await fs.writeFile(path.join(used.target, 'file'), 'synced');
  machine.run('sync', '-f', used.target);
  const frozen = path.join(machine.folder('copy'), 'disk');
  machine.run('cp', '--sparse=always', diskOf(used.id), frozen);
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  machine.run('cp', '--sparse=always', frozen, diskOf(used.id));
  await driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
  const again = await stage(driver, used.id, KINDS.xfs.options());
  expect(await fs.readFile(path.join(again.staging, 'file'), 'utf8')).toBe('synced');
  await release(driver, again);
});

it('a volume too small for its filesystem is refused in one line, where it was not made for it', async () => {
  const target = await driver.target('small');
  const error = await driver.csi
    .NodePublishVolume({
      volume_id: 'inline-small-xfs',
      target_path: target,
      volume_capability: mountCapability({ fsType: 'xfs' }),
      volume_context: { 'csi.storage.k8s.io/ephemeral': 'true', size: '100Mi' },
    })
    .catch((thrown) => thrown);
  expect(error).toMatchObject({ code: Code.FAILED_PRECONDITION });
  expect(error.message).toMatch(/too small for xfs: it needs 314572800/);
  expect(error.message).not.toContain('\n');
  expect(await fs.readdir(path.join(driver.dataDir, 'volumes'))).toEqual([]);
});

it('a disk whose file is gone is never made anew, and a raw one that was cut off is not given out', async () => {
  const mount = await createVolume(driver, KINDS.ext4.options());
  const block = await createVolume(driver, KINDS.block.options());
  await release(driver, await stage(driver, mount, KINDS.ext4.options()).then(async (used) => used));
  const other = await createVolume(driver, KINDS.ext4.options());
  await fs.rm(diskOf(other));
  await expect(stage(driver, other, KINDS.ext4.options())).rejects.toMatchObject({
    code: Code.DATA_LOSS,
    message: expect.stringContaining('is gone'),
  });
  await fs.truncate(diskOf(block), MIB);
  await expect(stage(driver, block, KINDS.block.options())).rejects.toMatchObject({
    code: Code.DATA_LOSS,
    message: expect.stringContaining('1048576 bytes where 16777216 belong'),
  });
  await expect(fs.access(diskOf(other))).rejects.toThrow('ENOENT');
  for (const id of [other, block]) {
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await driver.csi.DeleteVolume({ volume_id: id });
  }
  const directory = await createVolume(driver, KINDS.directory.options());
  await fs.rm(path.join(driver.dataDir, 'volumes', keyOf(directory), 'tree'), { recursive: true });
  await expect(stage(driver, directory, KINDS.directory.options())).rejects.toMatchObject({
    code: Code.DATA_LOSS,
  });
  await driver.csi.ControllerUnpublishVolume({ volume_id: directory });
  await driver.csi.DeleteVolume({ volume_id: directory });
});

it('a new volume is usable by everybody its pod runs as, as far as the driver can see to that', async () => {
  const used = await use(driver, KINDS.ext4.options());
  expect((await fs.stat(used.target)).mode & 0o777).toBe(0o755);
  await dispose(driver, used);
});

it.each([
  ['to nothing', 0],
  ['in the middle', 30 * MIB],
])('a blank disk that was cut off %s is not taken for a new one', async (_what, left) => {
  const used = await use(driver, { capability: mountCapability({ fsType: 'ext4' }), size: 64 * MIB });
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  const disk = diskOf(used.id);
  await fs.truncate(disk, 0);
  await fs.truncate(disk, left);
  await expect(stage(driver, used.id, { capability: used.capability })).rejects.toMatchObject({
    code: Code.DATA_LOSS,
    message: expect.stringContaining('cut off'),
  });
  expect((await fs.stat(disk)).size).toBe(left);
  expect(machine.loops(driver.dataDir)).toEqual([]);
  await release(driver, used);
});
