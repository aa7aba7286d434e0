import type { MemoryHost } from '../../src/host/memory';
import { blockCapability, dispose, MIB, mountCapability, release, use } from '../support/lifecycle';
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
