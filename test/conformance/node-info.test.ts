import { createVolume, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('NodeGetInfo', (bench) => {
  test('NI1 the node id, its limit and its topology', async () => {
    expect(await bench.csi.NodeGetInfo()).toEqual({
      node_id: 'node-1',
      max_volumes_per_node: '0',
      accessible_topology: { segments: { 'topology.fake.csi.test/zone': 'a' } },
    });
    const { csi } = await bench.start({ nodeId: 'n'.repeat(256), maxVolumesPerNode: 7 });
    expect(await csi.NodeGetInfo()).toMatchObject({ node_id: 'n'.repeat(256), max_volumes_per_node: '7' });
  });

  test('NI2 without VOLUME_ACCESSIBILITY_CONSTRAINTS: no accessible_topology', async () => {
    const { csi } = await bench.start({ capabilities: '-VOLUME_ACCESSIBILITY_CONSTRAINTS' });
    expect((await csi.NodeGetInfo()).accessible_topology).toBeNull();
  });

  test('NI3 a volume can be attached to the node id that NodeGetInfo tells', async () => {
    const driver = await bench.start({ nodeId: 'ä node/with: signs' });
    const { node_id } = await driver.csi.NodeGetInfo();
    const volume_id = await createVolume(driver);
    const attach = driver.csi.ControllerPublishVolume({
      volume_id,
      node_id,
      volume_capability: mountCapability(),
    });
    expect(await outcome(attach)).toBe('OK');
  });
});
