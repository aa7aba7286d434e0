import type { Host } from '../../src/host/host';
import { createMemoryHost } from '../../src/host/memory';
import { createVolume } from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('group snapshots of a volume that another node has mounted', (bench) => {
  const capability = { mount: {}, access_mode: { mode: 1 as const } };

  /** A controller, a volume that a node of it has staged, and one that is idle. */
  const mountedElsewhere = async (machine: Host = bench.host) => {
    const controller = await bench.start({ profile: 'controller' });
    const shared = { profile: 'node' as const, nodeId: 'node-2', dataDir: controller.dataDir };
    const node = await bench.start(shared, machine);
    const ids = [await createVolume(controller), await createVolume(controller)];
    const [volume_id = ''] = ids;
    const { publish_context } = await controller.csi.ControllerPublishVolume({
      volume_id,
      node_id: 'node-2',
      volume_capability: capability,
    });
    const where = { volume_id, staging_target_path: await node.folder('s') };
    await node.csi.NodeStageVolume({ ...where, volume_capability: capability, publish_context });
    const group = () =>
      outcome(controller.csi.CreateVolumeGroupSnapshot({ name: 'g', source_volume_ids: ids }));
    return { controller, group, unstage: () => node.csi.NodeUnstageVolume(where) };
  };

  test('GC05 a node of this machine: it is held still there', async () => {
    const { group, unstage } = await mountedElsewhere();
    expect(await group()).toBe('OK');
    await unstage();
  });

  test('GC08 a node of another machine: FAILED_PRECONDITION until it is unstaged there, no snapshot is left', async () => {
    if (bench.target.real) return;
    const { controller, group, unstage } = await mountedElsewhere(createMemoryHost());
    expect(await group()).toBe('FAILED_PRECONDITION');
    expect((await controller.csi.ListSnapshots()).entries).toEqual([]);
    await unstage();
    expect(await group()).toBe('OK');
  });
});
