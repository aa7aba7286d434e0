import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { DriverProcess } from '../../support/driver-process';
import { KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, stage } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { until } from '../../support/until';

const machine = useMachine();
const { ext4 } = KINDS;
const { PATH } = process.env;
afterEach(() => {
  process.env.PATH = PATH;
});

/** A resize2fs that begins, and goes on when it is told to, though nobody reads what it says. */
async function slowResize(): Promise<{ begun(): Promise<boolean>; goOn(): Promise<void> }> {
  const folder = machine.folder('tools');
  const [begun, go] = [path.join(folder, 'begun'), path.join(folder, 'go')];
  await fs.mkdir(folder, { recursive: true });
  const script = `#!/bin/sh\ntrap '' PIPE\ntouch ${begun}\nwhile [ ! -e ${go} ]; do sleep 0.05; done\nPATH=/usr/sbin:/sbin:/usr/bin:/bin exec resize2fs "$@"\n`;
  await fs.writeFile(path.join(folder, 'resize2fs'), script, { mode: 0o755 });
  process.env.PATH = `${folder}:${PATH}`;
  return {
    begun: () =>
      fs.access(begun).then(
        () => true,
        () => false,
      ),
    goOn: () => fs.writeFile(go, ''),
  };
}

/** A volume that is being grown unmounted by a driver that is then killed; resize2fs goes on without it. */
async function killedWhileGrowing() {
  const resize = await slowResize();
  const dataDir = path.join(machine.folder('d'), 'data');
  const hold = { method: 'none', point: 'none' };
  const child = await DriverProcess.start({
    root: machine.root,
    dataDir,
    hold,
    capabilities: 'all',
    refuseGrowth: true,
  });
  try {
    const id = await createVolume(child, ext4.options());
    const used = await stage(child, id, ext4.options());
    await publish(child, used);
    await writeMark(ext4, used, 'before');
    await child.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    const capacity_range = { required_bytes: String(256 * 2 ** 20) };
    await child.csi.ControllerExpandVolume({ volume_id: id, capacity_range });
    const paths = { volume_path: used.staging, staging_target_path: used.staging };
    const call = child.csi
      .NodeExpandVolume({ volume_id: id, ...paths, capacity_range })
      .catch((error: Error) => error);
    await Promise.race([until('resize2fs runs', resize.begun), call.then((error) => Promise.reject(error))]);
    await child.kill();
    await call;
    return { dataDir, used, resize };
  } finally {
    await child.kill();
  }
}

it('a disk that resize2fs still works on is mounted again when that has ended, not before', async () => {
  const { dataDir, used, resize } = await killedWhileGrowing();
  let started = false;
  const starting = machine.start({ dataDir }).then((driver) => {
    started = true;
    return driver;
  });
  const refused = machine.host.loops.attach(path.join(dataDir, await disk(dataDir)), {
    readOnly: false,
    autoclear: true,
  });
  await expect(refused).rejects.toMatchObject({
    errno: 'EAGAIN',
    message: expect.stringContaining('filesystem tool'),
  });
  expect(started).toBe(false);
  expect(machine.loops(dataDir)).toEqual([]);
  await resize.goOn();
  const driver = await starting;
  await publish(driver, used);
  expect(await readMark(ext4, used)).toBe('before');
  const stats = await driver.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
  expect(Number(stats.usage[0]?.total)).toBeGreaterThan(200 * 2 ** 20);
  await dispose(driver, used);
  expect(machine.loops(dataDir)).toEqual([]);
});

/** Of the only volume, below the data folder. */
async function disk(dataDir: string): Promise<string> {
  const [volume] = await fs.readdir(path.join(dataDir, 'volumes'));
  return path.join('volumes', volume ?? '', 'disk.img');
}
