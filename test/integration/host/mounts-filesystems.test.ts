import { execFileSync } from 'node:child_process';
import { closeSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FS_TYPES } from '../../../src/host/host';
import { describeMounting } from './mounts-support';

const MIB = { ext4: 16, xfs: 320, btrfs: 128 } as const;

describeMounting('mounting filesystems', (workspace) => {
  const { mounts, makeFolder, makeFile, folder, attachDisk } = workspace;
  const entryOf = async (target: string) =>
    (await mounts.list()).find(({ mountPoint }) => mountPoint === target);

  describe.each(FS_TYPES)('%s', (fsType) => {
    const disk = () => attachDisk(`${fsType}.img`, fsType, MIB[fsType]);

    test('mounts with words for the mount, the superblock and the filesystem', async () => {
      const device = await disk();
      const target = makeFolder(`${fsType}-words`);
      const own = { ext4: 'data=journal', xfs: 'nouuid', btrfs: 'compress=zstd' }[fsType];
      const options = ['defaults', 'noatime', 'nosuid,nodev', 'noexec', 'sync', own, '_netdev'];
      await mounts.mount({ fsType, source: device.path, target, readOnly: false, options });
      const entry = await entryOf(target);
      expect(entry).toMatchObject({ fsType, source: device.path, root: '/' });
      expect(entry?.options).toEqual(['rw', 'nosuid', 'nodev', 'noexec', 'noatime']);
      expect(entry?.superOptions).toEqual(expect.arrayContaining(['rw', 'sync']));
      expect(entry?.superOptions.join()).toContain(own);
      writeFileSync(join(target, 'written'), 'yes');
      await mounts.unmount(target);
      await device.release();
    });

    test('mounted read-only, neither the mount nor the superblock can be written', async () => {
      const device = await disk();
      const target = makeFolder(`${fsType}-ro`);
      await mounts.mount({ fsType, source: device.path, target, readOnly: true, options: [] });
      expect(() => writeFileSync(join(target, 'x'), '')).toThrow(/EROFS/);
      expect(await mounts.at(target)).toMatchObject({ readOnly: true });
      const entry = await entryOf(target);
      expect(entry?.options).toContain('ro');
      expect(entry?.superOptions).toContain('ro');
      await mounts.unmount(target);
      await device.release();
    });

    test.each(['wibble', 'wibble=3'])(
      "refuses the option %s by its name, in the kernel's words",
      async (option) => {
        const device = await disk();
        const target = makeFolder(`${fsType}-refused`);
        const options = ['noatime', option];
        const mounting = mounts.mount({ fsType, source: device.path, target, readOnly: false, options });
        await expect(mounting).rejects.toMatchObject({
          errno: 'EINVAL',
          operation: 'mount',
          option: 'wibble',
          message: expect.stringMatching(
            new RegExp(`^mount: ${target}: .*"wibble"\\. ${fsType} on ${device.path}: EINVAL .*wibble`),
          ),
        });
        expect(await mounts.at(target)).toBeNull();
        await device.release();
      },
    );

    test('a blank disk and one of another type are refused, and nothing stays busy', async () => {
      const other = fsType === 'ext4' ? null : 'ext4';
      const device = await attachDisk('other.img', other, MIB[fsType]);
      const target = makeFolder(`${fsType}-wrong`);
      const mounting = mounts.mount({ fsType, source: device.path, target, readOnly: false, options: [] });
      await expect(mounting).rejects.toMatchObject({
        errno: 'EINVAL',
        option: undefined,
        message: expect.stringContaining(
          `wrong fs type, bad option, bad superblock on ${device.path}, missing codepage or helper program, or other error. ${fsType} on`,
        ),
      });
      expect(await mounts.at(target)).toBeNull();
      await device.release();
      // With autoclear, the device goes only when the failed mount let go of it as well.
      expect(await workspace.loops.status(device.index)).toBeNull();
    });
  });

  test('a value the filesystem cannot take names the option, also when it shows only at the end', async () => {
    const ext4 = await attachDisk('value.img', 'ext4', 16);
    const target = makeFolder('value');
    const request = { source: ext4.path, target, readOnly: false };
    await expect(
      mounts.mount({ ...request, fsType: 'ext4', options: ['data=wibble'] }),
    ).rejects.toMatchObject({
      errno: 'EINVAL',
      option: 'data',
    });
    await expect(
      mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options: ['size=1x'] }),
    ).rejects.toMatchObject({ errno: 'EINVAL', option: 'size' });
    await ext4.release();
  });

  test('the value of a refused option is in no message: it may be a password', async () => {
    const target = makeFolder('password');
    const options = ['wibble=hunter2'];
    const mounting = mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options });
    await expect(mounting).rejects.toMatchObject({
      option: 'wibble',
      message: expect.not.stringContaining('hunter2'),
    });
  });

  test.each(['nosuchfs', 'wibblefs', '', 'ext4; reboot', '../ext4', 'ext4\n', '-ext4'])(
    'the filesystem type %j is unknown',
    async (fsType) => {
      const target = makeFolder('unknown');
      const request = { source: '/dev/zero', target, readOnly: false, options: [] };
      await expect(mounts.mount({ ...request, fsType })).rejects.toMatchObject({
        errno: 'ENODEV',
        operation: 'mount',
        message: expect.stringContaining(`unknown filesystem type ${JSON.stringify(fsType)}`),
      });
    },
  );

  test('a device that is missing, and one that is none, are told apart', async () => {
    const request = { fsType: 'ext4', target: makeFolder('no-device'), readOnly: false, options: [] };
    await expect(mounts.mount({ ...request, source: join(folder, 'absent') })).rejects.toMatchObject({
      errno: 'ENOENT',
      message: expect.stringMatching(/absent.*does not exist/),
    });
    await expect(mounts.mount({ ...request, source: makeFile('regular') })).rejects.toMatchObject({
      errno: 'ENOTBLK',
      message: expect.stringMatching(/regular.*not a block device/),
    });
  });

  test('the target must be a folder, and no link', async () => {
    const request = { fsType: 'tmpfs', source: 'tmpfs', readOnly: false, options: [] };
    await expect(mounts.mount({ ...request, target: join(folder, 'absent') })).rejects.toMatchObject({
      errno: 'ENOENT',
    });
    await expect(mounts.mount({ ...request, target: makeFile('no-folder') })).rejects.toMatchObject({
      errno: 'ENOTDIR',
    });
    symlinkSync(makeFolder('real'), join(folder, 'mount-link'));
    await expect(mounts.mount({ ...request, target: join(folder, 'mount-link') })).rejects.toMatchObject({
      errno: 'ELOOP',
    });
  });

  test('a damaged superblock is called damaged', async () => {
    const device = await attachDisk('damaged.img', 'ext4', 16);
    const file = openSync(join(folder, 'damaged.img'), 'r+');
    // s_free_inodes_count, under the superblock's checksum.
    writeSync(file, Buffer.from([1, 2, 3, 4]), 0, 4, 1024 + 0x10);
    closeSync(file);
    const target = makeFolder('damaged');
    const mounting = mounts.mount({
      fsType: 'ext4',
      source: device.path,
      target,
      readOnly: false,
      options: [],
    });
    await expect(mounting).rejects.toMatchObject({
      errno: expect.stringMatching(/^(EBADMSG|EUCLEAN)$/),
      message: expect.stringMatching(/damaged/),
    });
    await device.release();
  });

  test('a read-only device mounts read-only, and only so', async () => {
    const file = workspace.makeDisk('ro-device.img', 'ext4', 16);
    const device = await workspace.loops.attach(file, { readOnly: true, autoclear: true });
    const target = makeFolder('ro-device');
    const request = { fsType: 'ext4', source: device.path, target, options: [] };
    await expect(mounts.mount({ ...request, readOnly: false })).rejects.toMatchObject({
      errno: expect.stringMatching(/^(EACCES|EROFS)$/),
      message: expect.stringContaining(
        `${device.path} is write-protected but explicit read-write mode requested`,
      ),
    });
    await mounts.mount({ ...request, readOnly: true });
    expect(await mounts.at(target)).toMatchObject({ readOnly: true });
    await mounts.unmount(target);
    await device.release();
  });

  test('a superblock mounted read-write is not mounted read-only beside it', async () => {
    const device = await attachDisk('twice.img', 'ext4', 16);
    const [first, second] = [makeFolder('first'), makeFolder('second')];
    const request = { fsType: 'ext4', source: device.path, options: [] };
    await mounts.mount({ ...request, target: first, readOnly: false });
    await expect(mounts.mount({ ...request, target: second, readOnly: true })).rejects.toMatchObject({
      errno: 'EBUSY',
      message: expect.stringMatching(/mounted already/),
    });
    await mounts.unmount(first);
    await device.release();
  });

  test('a program on a noexec mount does not run', async () => {
    const source = makeFolder('noexec-source');
    const target = makeFolder('noexec');
    writeFileSync(join(source, 'program'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    await mounts.bind({ source, target, readOnly: false, options: ['noexec'] });
    execFileSync(join(source, 'program'));
    expect(() => execFileSync(join(target, 'program'))).toThrow(/EACCES/);
    await mounts.unmount(target);
  });
});
