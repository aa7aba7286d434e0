import * as fs from 'node:fs';
import * as path from 'node:path';
import { GIB, MemoryMachine } from './machine';

let machine: MemoryMachine;

beforeEach(() => {
  machine = new MemoryMachine();
});

afterEach(() => machine.close());

describe('unmount', () => {
  test('of nothing is EINVAL', async () => {
    const folder = machine.makeFolder('folder');
    await expect(machine.host.mounts.unmount(folder)).rejects.toMatchObject({ errno: 'EINVAL' });
    const { target } = await machine.mounted('stage', GIB);
    fs.mkdirSync(path.join(target, 'inside'));
    await expect(machine.host.mounts.unmount(path.join(target, 'inside'))).rejects.toMatchObject({
      errno: 'EINVAL',
    });
  });

  test('takes the topmost of several', async () => {
    const { mounts } = machine.host;
    const { target } = await machine.mounted('stage', GIB);
    const below = await mounts.at(target);
    await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options: ['size=1m'] });
    const above = await mounts.at(target);
    expect(above?.device).not.toEqual(below?.device);
    await mounts.unmount(target);
    expect(await mounts.at(target)).toEqual(below);
    await mounts.unmount(target);
    expect(await mounts.at(target)).toBeNull();
  });

  test('with a mount below is EBUSY; lazily both go', async () => {
    const { mounts } = machine.host;
    const { target } = await machine.mounted('stage', GIB);
    const below = path.join(target, 'below');
    fs.mkdirSync(below);
    await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target: below, readOnly: false, options: [] });
    await expect(mounts.unmount(target)).rejects.toMatchObject({ errno: 'EBUSY' });
    await mounts.unmount(target, { lazy: true });
    expect(await mounts.list()).toEqual([]);
  });

  test('with somebody on it is EBUSY until the last one left; binds do not keep it', async () => {
    const { mounts, control } = machine.host;
    const { target } = await machine.mounted('stage', GIB);
    const pod = await machine.bind(target, machine.makeFolder('pod'));
    const leave = [await control.hold(target), await control.hold(target)];
    await expect(mounts.unmount(target)).rejects.toMatchObject({ errno: 'EBUSY' });
    leave[0]?.();
    leave[0]?.();
    await expect(mounts.unmount(target)).rejects.toMatchObject({ errno: 'EBUSY' });
    leave[1]?.();
    await mounts.unmount(target);
    expect(await mounts.at(pod)).not.toBeNull();
  });

  test('a mount that another was made over is out of reach, and back when that is gone', async () => {
    const { mounts } = machine.host;
    const outer = machine.makeFolder('outer');
    const { device } = await machine.mounted('stage', GIB);
    await machine.mount(device.path, 'outer/inner');
    await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target: outer, readOnly: false, options: [] });
    expect(await mounts.at(machine.at('outer/inner'))).toBeNull();
    await expect(mounts.unmount(machine.at('outer/inner'))).rejects.toMatchObject({ errno: 'EINVAL' });
    await mounts.unmount(outer);
    expect(await mounts.at(machine.at('outer/inner'))).not.toBeNull();
  });
});

describe('a dead mount', () => {
  test('answers everything with its errno and can be unmounted', async () => {
    const { mounts, control } = machine.host;
    const { target } = await machine.mounted('stage', GIB);
    const pod = await machine.bind(target, machine.makeFolder('pod'));
    await control.kill(pod, 'ENOTCONN');
    const asked = [
      () => mounts.at(pod),
      () => mounts.usage(pod),
      () => mounts.sync(pod),
      () => mounts.freeze(pod),
    ];
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ errno: 'ENOTCONN' });
    await expect(machine.bind(pod, machine.makeFolder('other'))).rejects.toMatchObject({ errno: 'ENOTCONN' });
    expect(await mounts.at(target)).not.toBeNull();
    await mounts.unmount(pod);
    expect(await mounts.at(pod)).toBeNull();
  });
});

describe('freeze', () => {
  test('twice is EBUSY, a thaw of what is not frozen EINVAL, through any mount of the filesystem', async () => {
    const { mounts } = machine.host;
    const { target } = await machine.mounted('stage', GIB);
    const pod = await machine.bind(target, machine.makeFolder('pod'));
    await expect(mounts.thaw(target)).rejects.toMatchObject({ errno: 'EINVAL' });
    await mounts.freeze(target);
    await expect(mounts.freeze(pod)).rejects.toMatchObject({ errno: 'EBUSY' });
    await mounts.thaw(pod);
    await mounts.freeze(target);
  });

  test('goes with the last mount; a tmpfs and a mere folder cannot be frozen', async () => {
    const { mounts } = machine.host;
    const { target, device } = await machine.mounted('stage', GIB);
    await mounts.freeze(target);
    await mounts.unmount(target);
    await machine.mount(device.path, 'stage');
    await mounts.freeze(target);
    const shm = machine.makeFolder('shm');
    await expect(mounts.freeze(shm)).rejects.toMatchObject({ errno: 'EINVAL' });
    await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target: shm, readOnly: false, options: [] });
    await expect(mounts.freeze(shm)).rejects.toMatchObject({ errno: 'EOPNOTSUPP' });
  });
});
