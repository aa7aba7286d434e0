import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../../../src/host/host';
import type { Libc } from '../../../src/host/libc';
import { createMounts } from '../../../src/host/linux/mounts';
import { describeMounting } from './mounts-support';

describeMounting('mounting where the newer calls are missing', (workspace) => {
  const { makeFolder, makeFile, attachDisk } = workspace;

  /** The kernel as an old one, or a seccomp filter, shows it; `asked` counts the calls that were refused. */
  function without(errno: 'ENOSYS' | 'EPERM', calls: readonly ('fsopen' | 'openTree' | 'fspick')[]) {
    const asked: string[] = [];
    const refuse = (call: string) => async () => {
      asked.push(call);
      throw new HostError(errno, call, `${call}: ${errno}`);
    };
    const libc: Libc = {
      ...workspace.libc,
      ...Object.fromEntries(calls.map((call) => [call, refuse(call)])),
    };
    return { libc, asked };
  }

  const ALL = ['fsopen', 'openTree', 'fspick'] as const;
  const TMPFS = { fsType: 'tmpfs', source: 'tmpfs', readOnly: false };

  test.each(['ENOSYS', 'EPERM'] as const)(
    '%s: mounts, binds read-only, resizes and unmounts all the same',
    async (errno) => {
      const { libc, asked } = without(errno, ALL);
      const mounts = createMounts(libc);
      const [stage, target] = [makeFolder('stage'), makeFolder('target')];
      await mounts.mount({ ...TMPFS, target: stage, options: ['size=4m', 'noexec', 'sync'] });
      await mounts.bind({ source: stage, target, readOnly: true, options: ['nosuid'] });
      await mounts.resizeTmpfs(stage, 8n << 20n);
      const table = await mounts.list();
      const of = (path: string) => table.find(({ mountPoint }) => mountPoint === path);
      expect(of(stage)?.options).toEqual(expect.arrayContaining(['rw', 'noexec', 'relatime']));
      expect(of(stage)?.superOptions).toEqual(expect.arrayContaining(['rw', 'sync', 'size=8192k']));
      expect(of(target)?.options).toEqual(expect.arrayContaining(['ro', 'noexec', 'nosuid']));
      expect(() => writeFileSync(join(target, 'x'), '')).toThrow(/EROFS/);
      writeFileSync(join(stage, 'x'), '');
      await mounts.unmount(target);
      await mounts.unmount(stage);
      // A missing call stays missing, a refused one may be a matter of privilege: it is asked for again.
      expect(asked).toEqual(errno === 'ENOSYS' ? ['fsopen'] : ['fsopen', 'openTree', 'fspick']);
    },
  );

  test('without mount_setattr only (Linux before 5.12), a bind with flags falls back', async () => {
    const libc: Libc = {
      ...workspace.libc,
      mountSetattrSync() {
        throw new HostError('ENOSYS', 'mount_setattr', 'mount_setattr: ENOSYS');
      },
    };
    const mounts = createMounts(libc);
    const [source, target] = [makeFolder('source'), makeFolder('target')];
    await mounts.bind({ source, target, readOnly: true, options: [] });
    expect(await mounts.at(target)).toMatchObject({ readOnly: true });
    await mounts.unmount(target);
  });

  test('where nothing else is allowed, the missing call is the error', async () => {
    const mounts = createMounts(without('ENOSYS', ALL).libc, { api: 'context' });
    await expect(mounts.mount({ ...TMPFS, target: makeFolder('t'), options: [] })).rejects.toMatchObject({
      errno: 'ENOSYS',
      operation: 'fsopen',
    });
  });

  test('mount(2) refuses an option by name, an unknown type and a link as well', async () => {
    const mounts = createMounts(workspace.libc, { api: 'classic' });
    const device = await attachDisk('classic.img', 'ext4', 16);
    const target = makeFolder('refused');
    const request = { source: device.path, target, readOnly: false, options: [] };
    await expect(mounts.mount({ ...request, fsType: 'ext4', options: ['wibble'] })).rejects.toMatchObject({
      errno: 'EINVAL',
      option: 'wibble',
      message: expect.stringContaining(device.path),
    });
    await expect(mounts.mount({ ...request, fsType: 'nosuchfs' })).rejects.toMatchObject({ errno: 'ENODEV' });
    await expect(
      mounts.mount({ ...request, fsType: 'ext4', target: makeFile('file') }),
    ).rejects.toMatchObject({ errno: 'ENOTDIR' });
    expect(await mounts.at(target)).toBeNull();
    await device.release();
  });

  test('a bind whose flags are refused is taken back', async () => {
    const libc: Libc = {
      ...workspace.libc,
      mount: (source, target, fsType, flags, data) =>
        source === null
          ? Promise.reject(new HostError('EPERM', 'mount', 'mount: EPERM'))
          : workspace.libc.mount(source, target, fsType, flags, data),
    };
    const mounts = createMounts(libc, { api: 'classic' });
    const [source, target] = [makeFolder('source'), makeFolder('target')];
    await expect(mounts.bind({ source, target, readOnly: true, options: [] })).rejects.toMatchObject({
      errno: 'EPERM',
      operation: 'bind',
    });
    expect(await mounts.at(target)).toBeNull();
  });
});
