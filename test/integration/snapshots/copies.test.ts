import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, readMark, writeMark } from '../../support/kinds';
import { dispose, MIB, mountCapability, publish, stage, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { restored, snapshot, snapshotDisk, volumeDisk } from './snapshots-support';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe.each(ALL_KINDS)('a $name volume in use', (kind) => {
  it('is snapshot, restored beside itself and cloned, each with the data of its instant', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'one');
    const first = await snapshot(driver, used);
    await writeMark(kind, used, 'two');
    const clone = await use(driver, { ...kind.options(), source: { volume: { volume_id: used.id } } });
    await writeMark(kind, used, 'three');
    const copy = await restored(driver, kind, first);
    const second = await restored(driver, kind, first);
    expect(await readMark(kind, used)).toBe('three');
    expect(await readMark(kind, clone)).toBe('two');
    expect(await readMark(kind, copy)).toBe('one');
    await writeMark(kind, copy, 'four');
    expect(await readMark(kind, second)).toBe('one');
    expect(await readMark(kind, used)).toBe('three');
    for (const each of [second, copy, clone, used]) await dispose(driver, each);
    await driver.csi.DeleteSnapshot({ snapshot_id: first });
    expect(machine.loops(driver.dataDir)).toEqual([]);
  });

  it('outlives its source, and a copy outlives its snapshot', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'inherited');
    const id = await snapshot(driver, used);
    await dispose(driver, used);
    const copy = await restored(driver, kind, id);
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
    expect(await readMark(kind, copy)).toBe('inherited');
    await driver.csi.NodeUnpublishVolume({ volume_id: copy.id, target_path: copy.target });
    await driver.csi.NodeUnstageVolume({ volume_id: copy.id, staging_target_path: copy.staging });
    const again = await stage(driver, copy.id, { capability: copy.capability });
    await publish(driver, again);
    expect(await readMark(kind, again)).toBe('inherited');
    await dispose(driver, again);
  });
});

it('copies are as sparse as what they are copies of', async () => {
  const size = 2048 * MIB;
  const used = await use(driver, { ...KINDS.ext4.options(), size });
  await fs.writeFile(path.join(used.target, 'file'), Buffer.alloc(3 * MIB, 7));
  machine.run('sync', '-f', used.target);
  const id = await snapshot(driver, used);
  const copy = await restored(driver, KINDS.ext4, id, size);
  const blocks = async (file: string) => (await fs.stat(file)).blocks * 512;
  const original = await blocks(volumeDisk(driver, used.id));
  expect(original).toBeLessThan(200 * MIB);
  for (const file of [snapshotDisk(driver, id), volumeDisk(driver, copy.id)])
    expect(await blocks(file)).toBeLessThanOrEqual(original * 1.1 + MIB);
  expect((await fs.stat(snapshotDisk(driver, id))).size).toBe(size);
  await dispose(driver, copy);
  await dispose(driver, used);
  await driver.csi.DeleteSnapshot({ snapshot_id: id });
});

it('the filesystem of the source wins over a default of the provisioner', async () => {
  const used = await use(driver, KINDS.xfs.options());
  await writeMark(KINDS.xfs, used, 'xfs it is');
  const id = await snapshot(driver, used);
  const options = { capability: mountCapability({ fsType: 'ext4' }), size: KINDS.xfs.size };
  for (const source of [{ snapshot: { snapshot_id: id } }, { volume: { volume_id: used.id } }]) {
    const copy = await use(driver, { ...options, source });
    expect((await machine.mountsAt(copy.target))[0]?.fsType).toBe('xfs');
    expect(await readMark(KINDS.xfs, copy)).toBe('xfs it is');
    await dispose(driver, copy);
  }
  await dispose(driver, used);
  await driver.csi.DeleteSnapshot({ snapshot_id: id });
});
