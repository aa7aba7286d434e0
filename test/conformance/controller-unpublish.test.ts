import { createVolume, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const shared = mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' });

conformance('ControllerUnpublishVolume', (bench) => {
  beforeAll(() => bench.keep({ profile: 'node', nodeId: 'node-2', dataDir: bench.driver.dataDir }));
  const attach = (volume_id: string, node_id = 'node-1') =>
    bench.csi.ControllerPublishVolume({ volume_id, node_id, volume_capability: shared });
  const detach = (volume_id: string, node_id: string) =>
    outcome(bench.csi.ControllerUnpublishVolume({ volume_id, node_id }));
  const nodesOf = async (volume_id: string) =>
    (await bench.csi.ControllerGetVolume({ volume_id })).status?.published_node_ids;

  test('U01 not attached, an unknown node, an unknown volume, both unknown: OK each', async () => {
    const id = await createVolume(bench.driver);
    expect(await detach(id, 'node-1')).toBe('OK');
    expect(await detach(id, 'unknown')).toBe('OK');
    expect(await detach('unknown', 'node-1')).toBe('OK');
    expect(await detach('unknown', 'unknown')).toBe('OK');
    expect(await detach('unknown', '')).toBe('OK');
  });

  test('U01 an unknown node leaves the attachment to a known one', async () => {
    const id = await createVolume(bench.driver);
    await attach(id);
    expect(await detach(id, 'unknown')).toBe('OK');
    expect(await nodesOf(id)).toEqual(['node-1']);
  });

  test('U02 an empty node_id: from every node', async () => {
    const id = await createVolume(bench.driver);
    await attach(id);
    await attach(id, 'node-2');
    expect(await detach(id, '')).toBe('OK');
    expect(await nodesOf(id)).toEqual([]);
  });

  test('U02 one of two nodes: the other stays attached', async () => {
    const id = await createVolume(bench.driver);
    await attach(id);
    await attach(id, 'node-2');
    expect(await detach(id, 'node-1')).toBe('OK');
    expect(await nodesOf(id)).toEqual(['node-2']);
  });

  test('U03 twice, and after DeleteVolume: OK each', async () => {
    const id = await createVolume(bench.driver);
    await attach(id);
    expect([await detach(id, 'node-1'), await detach(id, 'node-1')]).toEqual(['OK', 'OK']);
    await bench.csi.DeleteVolume({ volume_id: id });
    expect(await detach(id, 'node-1')).toBe('OK');
  });
});
