import { blockCapability, createVolume, publish, stage, use } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const noAttach = '-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES';

conformance('DeleteVolume', (bench) => {
  const remove = (volume_id: string) => outcome(bench.csi.DeleteVolume({ volume_id }));
  const get = (volume_id: string) => outcome(bench.csi.ControllerGetVolume({ volume_id }));

  test('D01 a volume that is controller-published: FAILED_PRECONDITION, and it is intact', async () => {
    const id = await createVolume(bench.driver);
    const attach = () =>
      bench.csi.ControllerPublishVolume({
        volume_id: id,
        node_id: 'node-1',
        volume_capability: { mount: {}, access_mode: { mode: 1 } },
      });
    const { publish_context } = await attach();
    expect(await remove(id)).toBe('FAILED_PRECONDITION');
    expect((await attach()).publish_context).toEqual(publish_context);
    await bench.csi.ControllerUnpublishVolume({ volume_id: id });
    expect(await remove(id)).toBe('OK');
    expect(await get(id)).toBe('NOT_FOUND');
  });

  test('D02 a volume that is staged, then published, then staged again only: FAILED_PRECONDITION each', async () => {
    const used = await stage(bench.driver, await createVolume(bench.driver));
    await bench.csi.ControllerUnpublishVolume({ volume_id: used.id });
    expect(await remove(used.id)).toBe('FAILED_PRECONDITION');
    await bench.csi.ControllerPublishVolume({
      volume_id: used.id,
      node_id: 'node-1',
      volume_capability: used.capability,
    });
    await publish(bench.driver, used);
    await bench.csi.ControllerUnpublishVolume({ volume_id: used.id });
    expect(await remove(used.id)).toBe('FAILED_PRECONDITION');
    await bench.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    expect(await remove(used.id)).toBe('FAILED_PRECONDITION');
    await bench.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    expect(await remove(used.id)).toBe('OK');
  });

  test.each([
    ['without attaching', noAttach],
    ['without attaching and staging', `${noAttach},-STAGE_UNSTAGE_VOLUME`],
  ])('D02 a volume that is published %s: FAILED_PRECONDITION', async (_what, capabilities) => {
    const driver = await bench.start({ capabilities });
    const volume_id = await createVolume(driver);
    const volume_capability = { mount: {}, access_mode: { mode: 1 as const } };
    const target_path = await driver.target('t');
    const staging_target_path = capabilities === noAttach ? await driver.folder('s') : '';
    if (staging_target_path !== '')
      await driver.csi.NodeStageVolume({ volume_id, staging_target_path, volume_capability });
    await driver.csi.NodePublishVolume({ volume_id, staging_target_path, target_path, volume_capability });
    expect(await outcome(driver.csi.DeleteVolume({ volume_id }))).toBe('FAILED_PRECONDITION');
    await driver.csi.NodeUnpublishVolume({ volume_id, target_path });
    if (staging_target_path !== '') await driver.csi.NodeUnstageVolume({ volume_id, staging_target_path });
    expect(await outcome(driver.csi.DeleteVolume({ volume_id }))).toBe('OK');
  });

  test('D02 a raw block volume that is published: FAILED_PRECONDITION', async () => {
    const used = await use(bench.driver, { capability: blockCapability() });
    await bench.csi.ControllerUnpublishVolume({ volume_id: used.id });
    expect(await remove(used.id)).toBe('FAILED_PRECONDITION');
    await bench.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await bench.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    expect(await remove(used.id)).toBe('OK');
  });

  test('D02 a volume that is staged on another node: FAILED_PRECONDITION', async () => {
    const controller = await bench.start({ profile: 'controller' });
    const node = await bench.start({ profile: 'node', nodeId: 'node-2', dataDir: controller.dataDir });
    const volume_capability = { mount: {}, access_mode: { mode: 1 as const } };
    const volume_id = await createVolume(controller);
    const { publish_context } = await controller.csi.ControllerPublishVolume({
      volume_id,
      node_id: 'node-2',
      volume_capability,
    });
    const staging_target_path = await node.folder('s');
    await node.csi.NodeStageVolume({ volume_id, staging_target_path, volume_capability, publish_context });
    await controller.csi.ControllerUnpublishVolume({ volume_id });
    expect(await outcome(controller.csi.DeleteVolume({ volume_id }))).toBe('FAILED_PRECONDITION');
    await node.csi.NodeUnstageVolume({ volume_id, staging_target_path });
    expect(await outcome(controller.csi.DeleteVolume({ volume_id }))).toBe('OK');
  });

  test('D03 the same id twice: OK, OK', async () => {
    const id = await createVolume(bench.driver);
    expect([await remove(id), await remove(id)]).toEqual(['OK', 'OK']);
  });

  test.each(['never-seen', '../../tmp', 'x'.repeat(128)])('D03 the unknown id %s: OK', async (id) => {
    expect(await remove(id)).toBe('OK');
  });

  test('D04 a volume with snapshots: OK, the snapshots are independent and stay', async () => {
    const id = await createVolume(bench.driver);
    const { snapshot } = await bench.csi.CreateSnapshot({ name: 'D04', source_volume_id: id });
    expect(await remove(id)).toBe('OK');
    const { entries } = await bench.csi.ListSnapshots({ source_volume_id: id });
    expect(entries.map((entry) => entry.snapshot?.snapshot_id)).toEqual([snapshot?.snapshot_id]);
  });

  test('D04 a volume with a snapshot that depends on it: FAILED_PRECONDITION until that is deleted', async () => {
    const id = await createVolume(bench.driver);
    const parameters = { dependent: 'true' };
    const { snapshot } = await bench.csi.CreateSnapshot({ name: 'D04d', source_volume_id: id, parameters });
    expect(await remove(id)).toBe('FAILED_PRECONDITION');
    await bench.csi.DeleteSnapshot({ snapshot_id: snapshot?.snapshot_id ?? '' });
    expect(await remove(id)).toBe('OK');
  });

  test('a volume that is a source of clones: OK, they are independent', async () => {
    const id = await createVolume(bench.driver);
    const clone = await createVolume(bench.driver, { source: { volume: { volume_id: id } } });
    expect([await remove(id), await get(clone)]).toEqual(['OK', 'OK']);
  });

  test('a volume under deletionProtection: FAILED_PRECONDITION until that is taken away', async () => {
    const id = await createVolume(bench.driver, { mutableParameters: { deletionProtection: 'true' } });
    expect(await remove(id)).toBe('FAILED_PRECONDITION');
    await bench.csi.ControllerModifyVolume({
      volume_id: id,
      mutable_parameters: { deletionProtection: 'false' },
    });
    expect(await remove(id)).toBe('OK');
  });
});
