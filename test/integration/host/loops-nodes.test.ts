import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLoopDevices } from '../../../src/host/linux/loops';
import { LoopNodes } from '../../../src/host/linux/loops-nodes';
import { describeMounting } from './mounts-support';

describeMounting('nodes of loop devices in a static /dev', (workspace) => {
  const { libc, mounts, makeFolder, makeDisk, folder } = workspace;
  const AUTOCLEAR = { readOnly: false, autoclear: true };

  /** A /dev as a container has it: a tmpfs with no more in it than was there at its start. */
  async function staticDev(name: string, options: readonly string[]) {
    const dev = makeFolder(name);
    await mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target: dev, readOnly: false, options });
    const own = join(folder, `${name}-own`);
    return { dev, own, loops: createLoopDevices(libc, new LoopNodes(libc, { dev, own })) };
  }

  test('a missing node is made in /dev, and used the next time', async () => {
    const { dev, own, loops } = await staticDev('static', []);
    const device = await loops.attach(makeDisk('static.img', null, 1), AUTOCLEAR);
    expect(device.path).toBe(join(dev, `loop${device.index}`));
    expect(statSync(device.path).isBlockDevice()).toBe(true);
    expect(statSync(device.path).rdev).toBe(statSync(`/dev/loop${device.index}`).rdev);
    const { ino } = statSync(device.path);
    const again = await loops.open(device.index);
    expect(statSync(device.path).ino).toBe(ino);
    expect(await loops.status(device.index)).toMatchObject({ path: device.path });
    expect(existsSync(own)).toBe(false);
    await device.release();
    await again?.release();
    await mounts.unmount(dev);
  });

  test.each([
    ['cannot be written', ['ro']],
    ['allows no device nodes', ['nodev']],
  ])('a /dev that %s: the node goes into a folder of our own', async (_, options) => {
    const { dev, own, loops } = await staticDev(`dev-${options.join()}`, options);
    const device = await loops.attach(makeDisk('own.img', 'ext4', 16), AUTOCLEAR);
    expect(device.path).toBe(join(own, `loop${device.index}`));
    const target = makeFolder('own-target');
    await mounts.mount({ fsType: 'ext4', source: device.path, target, readOnly: false, options: [] });
    await mounts.unmount(target);
    expect(await loops.open(device.index).then((again) => again?.release())).toBeUndefined();
    await device.release();
    await mounts.unmount(dev);
    rmSync(own, { recursive: true });
  });

  test('something else under the name is not opened', async () => {
    const { dev, own, loops } = await staticDev('decoy', []);
    const index = await new LoopNodes(libc, { dev: '/dev', own }).freeIndex();
    for (let taken = 0; taken <= index + 60; taken++) writeFileSync(join(dev, `loop${taken}`), 'no device');
    const device = await loops.attach(makeDisk('decoy.img', null, 1), AUTOCLEAR);
    expect(device.path).toBe(join(own, `loop${device.index}`));
    await device.release();
    await mounts.unmount(dev);
    rmSync(own, { recursive: true });
  });

  test('where no node can be made at all, the error says what to do', async () => {
    const { dev } = await staticDev('nowhere', ['ro']);
    const nodes = new LoopNodes(libc, { dev, own: join(dev, 'own') });
    const loops = createLoopDevices(libc, nodes);
    await expect(loops.attach(makeDisk('nowhere.img', null, 1), AUTOCLEAR)).rejects.toMatchObject({
      operation: 'mknod',
      message: expect.stringMatching(/loop-control has no node.*Mount the host's \/dev/),
    });
    await mounts.unmount(dev);
  });
});
