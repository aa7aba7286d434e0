import type { TestDriver } from '../support/driver';
import {
  blockCapability,
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  stage,
  use,
} from '../support/lifecycle';
import { conformance, outcome } from './harness';

const bytes = (mebibytes: number) => `${mebibytes * MIB}`;

conformance('NodeExpandVolume', (bench) => {
  const expand = (volume_id: string, volume_path: string, fields: object = {}) =>
    bench.csi.NodeExpandVolume({ volume_id, volume_path, ...fields });
  const to = (mebibytes: number) => ({ capacity_range: { required_bytes: bytes(mebibytes) } });
  const grown = (driver: TestDriver, volume_id: string, mebibytes: number) =>
    driver.csi.ControllerExpandVolume({ volume_id, ...to(mebibytes) });
  /** xfs grows while it is mounted wherever tests run; ext4 asks for CAP_SYS_RESOURCE. */
  const xfs = { capability: mountCapability({ fsType: 'xfs' }), size: 320 * MIB };

  test('NX1 neither staged nor published at volume_path: NOT_FOUND', async () => {
    const used = await use(bench.driver, xfs);
    const other = await use(bench.driver);
    expect(await outcome(expand(used.id, await bench.driver.folder('nx1')))).toBe('NOT_FOUND');
    expect(await outcome(expand(used.id, other.target))).toBe('NOT_FOUND');
    expect(await outcome(expand(used.id, 'some/path'))).toBe('NOT_FOUND');
    expect(await outcome(expand('unknown', used.target))).toBe('NOT_FOUND');
    expect(await outcome(expand(used.id, ''))).toBe('INVALID_ARGUMENT');
    await dispose(bench.driver, used);
    expect(await outcome(expand(await createVolume(bench.driver), used.target))).toBe('NOT_FOUND');
    await dispose(bench.driver, other);
  });

  test.each(['staging', 'target'] as const)(
    'NX2 without capacity_range, at the %s path: OK, as large as the volume',
    async (where) => {
      const used = await use(bench.driver, xfs);
      await grown(bench.driver, used.id, 400);
      expect((await expand(used.id, used[where])).capacity_bytes).toBe(bytes(400));
      const { usage } = await bench.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
      expect(Number(usage[0]?.total)).toBeGreaterThan(330 * MIB);
      await dispose(bench.driver, used);
    },
  );

  test.each([
    ['required above the maximum', { required_bytes: `${2n ** 62n + 1n}` }],
    ['limit below the size', { limit_bytes: bytes(319) }],
    ['limit below required', { required_bytes: bytes(340), limit_bytes: bytes(330) }],
  ])('NX3 %s: OUT_OF_RANGE', async (_what, capacity_range) => {
    const used = await use(bench.driver, xfs);
    expect(await outcome(expand(used.id, used.target, { capacity_range }))).toBe('OUT_OF_RANGE');
    await dispose(bench.driver, used);
  });

  test('NX3 a range that is negative or says nothing: INVALID_ARGUMENT', async () => {
    const used = await use(bench.driver, xfs);
    for (const capacity_range of [{}, { required_bytes: '-1' }, { limit_bytes: '-1' }])
      expect(await outcome(expand(used.id, used.target, { capacity_range }))).toBe('INVALID_ARGUMENT');
    await dispose(bench.driver, used);
  });

  test('NX4 again, and large enough already: OK', async () => {
    const used = await use(bench.driver, xfs);
    expect((await expand(used.id, used.target, to(100))).capacity_bytes).toBe(bytes(320));
    await grown(bench.driver, used.id, 400);
    for (let i = 0; i < 2; i++)
      expect((await expand(used.id, used.target, to(400))).capacity_bytes).toBe(bytes(400));
    await dispose(bench.driver, used);
  });

  test('NX5 a capability that the volume cannot serve: INVALID_ARGUMENT; one it can: OK', async () => {
    const used = await use(bench.driver, xfs);
    const wrong = { volume_capability: blockCapability() };
    expect(await outcome(expand(used.id, used.target, wrong))).toBe('INVALID_ARGUMENT');
    expect(await outcome(expand(used.id, used.target, { volume_capability: {} }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(expand(used.id, used.target, { volume_capability: xfs.capability }))).toBe('OK');
    await dispose(bench.driver, used);
  });

  test('NX6 a block volume: the device grows', async () => {
    const used = await use(bench.driver, { capability: blockCapability() });
    await grown(bench.driver, used.id, 80);
    expect((await expand(used.id, used.target, to(80))).capacity_bytes).toBe(bytes(80));
    const { usage } = await bench.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
    expect(usage[0]?.total).toBe(bytes(80));
    await dispose(bench.driver, used);
  });

  test('NX7 in use and the filesystem cannot be grown there (read-only): FAILED_PRECONDITION', async () => {
    const capability = mountCapability({ fsType: 'xfs', mode: 'SINGLE_NODE_READER_ONLY' });
    const used = await stage(bench.driver, await createVolume(bench.driver, xfs), { capability });
    await publish(bench.driver, used);
    await grown(bench.driver, used.id, 400);
    expect(await outcome(expand(used.id, used.target, to(400)))).toBe('FAILED_PRECONDITION');
    await dispose(bench.driver, used);
  });

  test('NX8 on a node of its own, more than the controller made: OUT_OF_RANGE', async () => {
    const controller = await bench.start({ profile: 'controller' });
    const node = await bench.start({ profile: 'node', nodeId: 'node-2', dataDir: controller.dataDir });
    const volume_id = await createVolume(controller, xfs);
    const { publish_context } = await controller.csi.ControllerPublishVolume({
      volume_id,
      node_id: 'node-2',
      volume_capability: xfs.capability,
    });
    const staging_target_path = await node.folder('s');
    await node.csi.NodeStageVolume({
      volume_id,
      staging_target_path,
      publish_context,
      volume_capability: xfs.capability,
    });
    const grow = (size: number) =>
      node.csi.NodeExpandVolume({ volume_id, volume_path: staging_target_path, ...to(size) });
    expect(await outcome(grow(400))).toBe('OUT_OF_RANGE');
    await grown(controller, volume_id, 400);
    expect((await grow(400)).capacity_bytes).toBe(bytes(400));
    await node.csi.NodeUnstageVolume({ volume_id, staging_target_path });
  });
});
