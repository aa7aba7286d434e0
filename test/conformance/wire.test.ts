import { methods, rpcs } from '../../src/csi/rpcs';
import { createVolume, mountCapability, stage } from '../support/lifecycle';
import { bytesField, codec, varintField } from '../unit/csi/wire';
import { conformance, protocol } from './harness';
import { pathOf, sendRaw } from './raw-client';
import { minimal } from './requests';

/** Fields of numbers that CSI 1.12 does not have, of every wire type that protobuf still has. */
const UNKNOWN_FIELDS = Buffer.concat([
  varintField(1000, 42n),
  varintField(1001, 2n ** 63n),
  bytesField(1002, 'from a newer version'),
  // Fixed 64 and 32 bits: tag of field 1003 and 1004, then the bytes.
  Buffer.from('d93e0102030405060708', 'hex'),
  Buffer.from('e53e01020304', 'hex'),
]);

protocol('the wire', (bench) => {
  const unary = methods.filter((method) => !rpcs[method].serverStreaming);

  test.each(unary)('T18 %s: fields of unknown numbers change nothing', async (method) => {
    const known = codec(method).requestSerialize(minimal[method]);
    const plain = await sendRaw(bench.driver, pathOf(method), known);
    const extended = await sendRaw(bench.driver, pathOf(method), Buffer.concat([known, UNKNOWN_FIELDS]));
    expect([extended.code, extended.message]).toEqual([plain.code, plain.message]);
    expect(extended.bytes).toEqual(plain.bytes);
  });

  test('T18 unknown fields inside a message change nothing', async () => {
    // VolumeCapability { mount {} , access_mode { mode: 1, unknown }, unknown }, and the name.
    const mode = Buffer.concat([varintField(1, 1n), UNKNOWN_FIELDS]);
    const capability = Buffer.concat([bytesField(2, ''), bytesField(3, mode), UNKNOWN_FIELDS]);
    const request = Buffer.concat([bytesField(1, 'extended'), bytesField(3, capability)]);
    const { code, bytes } = await sendRaw(bench.driver, pathOf('CreateVolume'), request);
    expect(code).toBe(0);
    expect(bytes?.length).toBeGreaterThan(0);
  });
});

const ODD = 2n ** 53n + 1n;

conformance('T19 64-bit sizes', (bench) => {
  /** No disk file can be so large on most filesystems: a folder has no size of its own. */
  const parameters = bench.target.real ? { backend: 'directory' } : {};
  const path = async (driver: typeof bench.driver, size: bigint) => {
    const { volume } = await driver.csi.CreateVolume({
      name: `size ${size}`,
      volume_capabilities: [mountCapability()],
      capacity_range: { required_bytes: `${size}`, limit_bytes: `${size}` },
      parameters,
    });
    return volume;
  };

  test.each([ODD, 2n ** 60n, 2n ** 60n + 1n, 2n ** 62n])(
    'T19 %d bytes: exactly that in every answer',
    async (size) => {
      const driver = await bench.start();
      const volume = await path(driver, size);
      const volume_id = volume?.volume_id ?? '';
      expect(volume?.capacity_bytes).toBe(`${size}`);
      expect((await driver.csi.ListVolumes()).entries[0]?.volume?.capacity_bytes).toBe(`${size}`);
      expect((await driver.csi.ControllerGetVolume({ volume_id })).volume?.capacity_bytes).toBe(`${size}`);
      const { snapshot } = await driver.csi.CreateSnapshot({ name: 's', source_volume_id: volume_id });
      expect(snapshot?.size_bytes).toBe(`${size}`);
      expect((await driver.csi.ListSnapshots()).entries[0]?.snapshot?.size_bytes).toBe(`${size}`);
      await driver.stop();
      const again = await bench.start({ dataDir: driver.dataDir });
      expect((await path(again, size))?.volume_id).toBe(volume_id);
      expect((await again.csi.ControllerGetVolume({ volume_id })).volume?.capacity_bytes).toBe(`${size}`);
    },
  );

  test('T19 expanded to 2^53+1 and on to 2^60: exactly, and in the stats', async () => {
    const driver = await bench.start();
    const volume_id = await createVolume(driver, { parameters });
    const used = await stage(driver, volume_id);
    for (const size of [ODD, 2n ** 60n]) {
      const capacity_range = { required_bytes: `${size}` };
      const grown = await driver.csi.ControllerExpandVolume({ volume_id, capacity_range });
      expect(grown.capacity_bytes).toBe(`${size}`);
      const expanded = await driver.csi.NodeExpandVolume({
        volume_id,
        volume_path: used.staging,
        capacity_range,
      });
      expect(expanded.capacity_bytes).toBe(`${size}`);
      const { usage } = await driver.csi.NodeGetVolumeStats({ volume_id, volume_path: used.staging });
      if (bench.target.real) expect(usage[0]?.total).toBe(`${size}`);
      else expect(BigInt(usage[0]?.total ?? 0)).toBeGreaterThan((size / 10n) * 9n);
    }
    await driver.csi.NodeUnstageVolume({ volume_id, staging_target_path: used.staging });
  });

  test('T19 the pool and its limits are exact too', async () => {
    const driver = await bench.start({ capacityBytes: ODD + 10n, maxVolumeBytes: ODD });
    await path(driver, ODD);
    // With the parameters of these volumes: a disk file cannot be so large everywhere, and then the limit is that.
    const { available_capacity, maximum_volume_size } = await driver.csi.GetCapacity({ parameters });
    expect([available_capacity, maximum_volume_size?.value]).toEqual(['10', `${ODD}`]);
  });
});
