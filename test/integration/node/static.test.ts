import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code, CsiError } from '../../../src/csi/status';
import { ConditionGate } from '../../support/condition-gate';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, attributesOf, readMark, writeMark } from '../../support/kinds';
import { dispose, mountCapability, publish, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const volumesOf = (of: TestDriver) => fs.readdir(path.join(of.dataDir, 'volumes'));

describe.each(ALL_KINDS)('a static $name volume', (kind) => {
  it('is made when it is first staged, keeps its data, and has the size it says', async () => {
    const id = `static-${kind.name}`;
    const used: UsedVolume = {
      id,
      staging: await driver.folder(`${id}-staging`),
      target: await driver.target(id),
      publishContext: {},
      capability: kind.options().capability ?? {},
    };
    const stageIt = () =>
      driver.csi.NodeStageVolume({
        volume_id: id,
        staging_target_path: used.staging,
        volume_capability: used.capability,
        volume_context: attributesOf(kind),
      });
    for (let round = 0; round < 3; round++) await stageIt();
    await publish(driver, used);
    await writeMark(kind, used, 'static');
    await driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    await stageIt();
    await publish(driver, used);
    expect(await readMark(kind, used)).toBe('static');
    const { volume } = await driver.csi.ControllerGetVolume({ volume_id: id });
    expect(volume?.capacity_bytes).toBe(`${kind.size}`);
    await dispose(driver, used);
    expect(await volumesOf(driver)).toEqual([]);
  });
});

describe('a static volume whose first use is refused', () => {
  const capability = mountCapability();
  const context = { size: '64Mi' };

  it('was never made, so that its attributes can still be mended', async () => {
    const staging_target_path = await driver.folder('mended-staging');
    const request = { volume_id: 'mended', staging_target_path, volume_capability: capability };
    for (const refused of [
      { ...request, volume_context: { size: '5' } },
      { ...request, volume_context: { size: '200Ki' } },
      { ...request, volume_context: context, volume_capability: mountCapability({ fsType: 'zfs' }) },
      { ...request, volume_context: context, volume_capability: mountCapability({ mountFlags: ['bogus'] }) },
      { ...request, volume_context: context, staging_target_path: '/absent/staging' },
    ]) {
      await expect(driver.csi.NodeStageVolume(refused)).rejects.toBeInstanceOf(CsiError);
      expect(await volumesOf(driver)).toEqual([]);
    }
    await driver.csi.NodeStageVolume({ ...request, volume_context: context });
    await driver.csi.NodeUnstageVolume(request);
    await driver.csi.DeleteVolume({ volume_id: 'mended' });
  });

  it('was never made by a publish without a stage, or an attachment that cannot be', async () => {
    await expect(
      driver.csi.NodePublishVolume({
        volume_id: 'unstaged',
        staging_target_path: await driver.folder('unstaged-staging'),
        target_path: await driver.target('unstaged'),
        volume_capability: capability,
        volume_context: context,
      }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await expect(
      driver.csi.ControllerPublishVolume({
        volume_id: 'unattached',
        node_id: 'node-1',
        volume_capability: mountCapability({ fsType: 'zfs' }),
        volume_context: context,
      }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    expect(await volumesOf(driver)).toEqual([]);
  });

  it('stays when its disk failed, with what is wrong with it', async () => {
    const gate = new ConditionGate();
    const faulty = await machine.start({ faults: gate });
    const staging_target_path = await faulty.folder('failed-staging');
    const request = { volume_id: 'failed', staging_target_path, volume_capability: capability };
    const stage = () => faulty.csi.NodeStageVolume({ ...request, volume_context: context });
    gate.condition = { kind: 'corruptSuperblock' };
    await expect(stage()).rejects.toMatchObject({ code: Code.INTERNAL });
    gate.condition = undefined;
    await expect(stage()).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await faulty.csi.DeleteVolume({ volume_id: 'failed' });
  });

  it('stays when it was used before', async () => {
    const staging_target_path = await driver.folder('used-staging');
    const request = { volume_id: 'used', staging_target_path, volume_capability: capability };
    await driver.csi.NodeStageVolume({ ...request, volume_context: context });
    await driver.csi.NodeUnstageVolume(request);
    await expect(
      driver.csi.NodeStageVolume({
        ...request,
        volume_capability: mountCapability({ mountFlags: ['bogus'] }),
      }),
    ).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect(await volumesOf(driver)).toHaveLength(1);
    await driver.csi.DeleteVolume({ volume_id: 'used' });
  });
});

it('a volume that nobody made and that says no size is unknown', async () => {
  const staging = await driver.folder('unknown-staging');
  const request = {
    volume_id: 'unknown',
    staging_target_path: staging,
    volume_capability: mountCapability(),
  };
  await expect(driver.csi.NodeStageVolume(request)).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await expect(
    driver.csi.NodePublishVolume({ ...request, target_path: await driver.target('unknown') }),
  ).rejects.toMatchObject({ code: Code.NOT_FOUND });
});
