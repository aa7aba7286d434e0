import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { expectNoRecovery, restored, snapshot, snapshotDisk } from './snapshots-support';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe('a volume in use by another node', () => {
  it.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])('of this machine is held still too: $name', async (kind) => {
    const two = await machine.start({ dataDir: driver.dataDir, nodeId: 'node-2', profile: 'node' });
    const id = await createVolume(driver, kind.options());
    const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id: 'node-2',
      volume_capability: kind.options().capability ?? null,
    });
    const used: UsedVolume = {
      id,
      staging: await two.folder(`${id}-staging`),
      target: await two.target(id),
      publishContext,
      capability: kind.options().capability ?? {},
    };
    await two.csi.NodeStageVolume({
      volume_id: id,
      publish_context: publishContext,
      staging_target_path: used.staging,
      volume_capability: used.capability,
    });
    await publish(two, used);
    await writeMark(kind, used, 'of node 2');
    const taken = await snapshot(driver, used);
    if (kind.name === 'ext4') expectNoRecovery(snapshotDisk(driver, taken));
    const copy = await restored(driver, kind, taken);
    expect(await readMark(kind, copy)).toBe('of node 2');
    await dispose(driver, copy);
    await writeMark(kind, used, 'goes on');
    expect(await fs.readdir(path.join(driver.dataDir, 'nodes/node-1/undo'))).toEqual([]);
    await two.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await two.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await driver.csi.DeleteVolume({ volume_id: id });
    await driver.csi.DeleteSnapshot({ snapshot_id: taken });
    await two.stop();
  });

  it('is refused where its bytes are out of reach', async () => {
    const kind = KINDS.tmpfs;
    const two = await machine.start({ dataDir: driver.dataDir, nodeId: 'node-2', profile: 'node' });
    const id = await createVolume(driver, kind.options());
    await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id: 'node-2',
      volume_capability: kind.options().capability ?? null,
    });
    const staging = await two.folder(`${id}-staging`);
    await two.csi.NodeStageVolume({
      volume_id: id,
      staging_target_path: staging,
      volume_capability: kind.options().capability ?? null,
    });
    await expect(
      driver.csi.CreateSnapshot({ source_volume_id: id, name: 'out-of-reach' }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION, message: expect.stringContaining('node-2') });
    await two.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await driver.csi.DeleteVolume({ volume_id: id });
    await two.stop();
    const again = await machine.start({ dataDir: driver.dataDir, nodeId: 'node-2', profile: 'node' });
    await again.stop();
  });
});
