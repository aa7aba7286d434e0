import type { MemoryHost } from '../../src/host/memory';
import type { TestDriver } from '../support/driver';
import {
  blockCapability,
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  release,
  stage,
  use,
} from '../support/lifecycle';
import { conformance, outcome } from './harness';

const BYTES = 1;
const INODES = 2;
const bytes = (mebibytes: number) => `${mebibytes * MIB}`;

conformance('NodeGetVolumeStats', (bench) => {
  const stats = (volume_id: string, volume_path: string) =>
    bench.csi.NodeGetVolumeStats({ volume_id, volume_path });

  test('NG1 the staging path and the target path: OK; with staging_target_path too', async () => {
    const used = await use(bench.driver);
    expect(await outcome(stats(used.id, used.staging))).toBe('OK');
    expect(await outcome(stats(used.id, used.target))).toBe('OK');
    const request = {
      volume_id: used.id,
      volume_path: used.target,
      staging_target_path: used.staging,
    };
    expect(await outcome(bench.csi.NodeGetVolumeStats(request))).toBe('OK');
    await dispose(bench.driver, used);
  });

  test('NG2 an unknown volume; a path where the volume is not; the path of another volume: NOT_FOUND', async () => {
    const used = await use(bench.driver);
    const other = await use(bench.driver);
    expect(await outcome(stats('unknown', used.target))).toBe('NOT_FOUND');
    expect(await outcome(stats(used.id, other.target))).toBe('NOT_FOUND');
    expect(await outcome(stats(used.id, await bench.driver.folder('ng2')))).toBe('NOT_FOUND');
    expect(await outcome(stats(used.id, 'some/path'))).toBe('NOT_FOUND');
    await dispose(bench.driver, used);
    expect(await outcome(stats(used.id, used.target))).toBe('NOT_FOUND');
  });

  test('NG2 after unpublish, while it is staged: NOT_FOUND at the target, OK at the staging path', async () => {
    const used = await use(bench.driver);
    await bench.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    expect(await outcome(stats(used.id, used.target))).toBe('NOT_FOUND');
    expect(await outcome(stats(used.id, used.staging))).toBe('OK');
    await release(bench.driver, used);
  });

  test('NG3 only VOLUME_CONDITION is advertised: it answers', async () => {
    const driver = await bench.start({ capabilities: '-GET_VOLUME_STATS' });
    const used = await use(driver);
    const answer = await driver.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
    expect(answer.volume_condition?.message).toMatch(/\S+ \S+/);
    await dispose(driver, used);
  });

  test.each(['ext4', 'xfs', 'btrfs'])(
    'NG4 a mount volume (%s): bytes and inodes, none negative, that add up',
    async (fsType) => {
      const capability = mountCapability({ fsType });
      const used = await use(bench.driver, { capability, size: 400 * MIB });
      for (const volume_path of [used.staging, used.target]) {
        const { usage } = await stats(used.id, volume_path);
        expect(usage.map(({ unit }) => unit)).toEqual([BYTES, INODES]);
        for (const { total, available, used: taken } of usage) {
          for (const value of [total, available, taken]) expect(BigInt(value)).toBeGreaterThanOrEqual(0n);
          expect(BigInt(available) + BigInt(taken)).toBeLessThanOrEqual(BigInt(total));
        }
        expect(BigInt(usage[0]?.total ?? 0)).toBeGreaterThan(0n);
        expect(Number(usage[0]?.total)).toBeLessThanOrEqual(400 * MIB);
      }
      await dispose(bench.driver, used);
    },
  );

  test('NG5 a block volume: the size of the device, no inodes', async () => {
    const used = await use(bench.driver, { capability: blockCapability() });
    for (const volume_path of [used.staging, used.target]) {
      const { usage } = await stats(used.id, volume_path);
      expect(usage).toEqual([{ unit: BYTES, total: bytes(64), available: '0', used: '0' }]);
    }
    await dispose(bench.driver, used);
  });

  test('NG6 VOLUME_CONDITION: told when normal too; without it nothing is told', async () => {
    const used = await use(bench.driver);
    expect((await stats(used.id, used.target)).volume_condition).toEqual({
      abnormal: false,
      message: expect.stringMatching(/\S+ \S+/),
    });
    await dispose(bench.driver, used);
    const driver = await bench.start({ capabilities: '-node.VOLUME_CONDITION' });
    const silent = await use(driver);
    const answer = await driver.csi.NodeGetVolumeStats({ volume_id: silent.id, volume_path: silent.target });
    expect(answer.volume_condition ?? null).toBeNull();
    expect(answer.usage).toHaveLength(2);
    await dispose(driver, silent);
  });

  test('NG6 what is mounted there is gone: abnormal with a message of at most 128 bytes', async () => {
    const used = await use(bench.driver);
    await bench.host.mounts.unmount(used.target);
    const { volume_condition } = await stats(used.id, used.target);
    expect(volume_condition?.abnormal).toBe(true);
    expect(volume_condition?.message).toMatch(/\S+ \S+/);
    expect(Buffer.byteLength(volume_condition?.message ?? '')).toBeLessThanOrEqual(128);
    await dispose(bench.driver, used);
  });

  test('NG6 the mount is dead: abnormal', async () => {
    if (bench.target.real) return;
    const used = await use(bench.driver);
    await (bench.host as MemoryHost).control.kill(used.target, 'EIO');
    expect((await stats(used.id, used.target)).volume_condition?.abnormal).toBe(true);
    await dispose(bench.driver, used);
  });
});

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
