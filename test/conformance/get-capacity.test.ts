import { blockCapability, createVolume, MIB, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const ZONE = 'topology.fake.csi.test/zone';

conformance('GetCapacity', (bench) => {
  test('K01 a pool: what is left of it, as volumes and snapshots come and go', async () => {
    const driver = await bench.start({ capacityBytes: BigInt(1000 * MIB) });
    const left = async () => Number((await driver.csi.GetCapacity()).available_capacity) / MIB;
    expect(await left()).toBe(1000);
    const volume_id = await createVolume(driver, { size: 300 * MIB });
    expect(await left()).toBe(700);
    const { snapshot } = await driver.csi.CreateSnapshot({ name: 's', source_volume_id: volume_id });
    expect(await left()).toBe(400);
    await driver.csi.ControllerExpandVolume({
      volume_id,
      capacity_range: { required_bytes: `${350 * MIB}` },
    });
    expect(await left()).toBe(350);
    await driver.csi.DeleteSnapshot({ snapshot_id: snapshot?.snapshot_id ?? '' });
    await driver.csi.DeleteVolume({ volume_id });
    expect(await left()).toBe(1000);
  });

  test('K01 without a pool: more than zero', async () => {
    const { available_capacity } = await bench.csi.GetCapacity();
    expect(BigInt(available_capacity)).toBeGreaterThan(0n);
  });

  test.each([
    ['an unknown parameter', { parameters: { flavour: 'mint' } }],
    ['an unknown backend', { parameters: { backend: 'tape' } }],
    ['a filesystem that nobody knows', { volume_capabilities: [mountCapability({ fsType: 'ntfs' })] }],
    [
      'one bad capability of two',
      { volume_capabilities: [mountCapability(), mountCapability({ fsType: 'x' })] },
    ],
  ])('K02 %s: OK, available_capacity 0', async (_what, request) => {
    expect((await bench.csi.GetCapacity(request)).available_capacity).toBe('0');
  });

  test('K02 an access mode that is not advertised: OK, available_capacity 0', async () => {
    const driver = await bench.start({ capabilities: '-SINGLE_NODE_MULTI_WRITER' });
    const volume_capabilities = [mountCapability({ mode: 'SINGLE_NODE_MULTI_WRITER' })];
    expect((await driver.csi.GetCapacity({ volume_capabilities })).available_capacity).toBe('0');
  });

  test('K02 raw block where there is none: OK, available_capacity 0', async () => {
    if (!bench.target.real) return;
    const request = { volume_capabilities: [blockCapability()], parameters: { backend: 'directory' } };
    expect((await bench.csi.GetCapacity(request)).available_capacity).toBe('0');
  });

  test('K02 a capability that breaks the field rules: INVALID_ARGUMENT', async () => {
    for (const capability of [{}, { mount: {} }, { mount: {}, access_mode: { mode: 99 } }] as object[])
      expect(await outcome(bench.csi.GetCapacity({ volume_capabilities: [capability] }))).toBe(
        'INVALID_ARGUMENT',
      );
  });

  test('K03 the largest size: it can be created and grown to, one byte more is OUT_OF_RANGE', async () => {
    const driver = await bench.start({ maxVolumeBytes: BigInt(200 * MIB) });
    const { maximum_volume_size, available_capacity } = await driver.csi.GetCapacity();
    expect(maximum_volume_size).toEqual({ value: `${200 * MIB}` });
    expect(BigInt(available_capacity)).toBeGreaterThan(0n);
    const create = (name: string, bytes: number) =>
      outcome(
        driver.csi.CreateVolume({
          name,
          volume_capabilities: [mountCapability()],
          capacity_range: { required_bytes: `${bytes}` },
        }),
      );
    expect(await create('at', 200 * MIB)).toBe('OK');
    expect(await create('above', 200 * MIB + 1)).toBe('OUT_OF_RANGE');
    const volume_id = await createVolume(driver);
    const grow = (bytes: number) =>
      outcome(
        driver.csi.ControllerExpandVolume({ volume_id, capacity_range: { required_bytes: `${bytes}` } }),
      );
    expect(await grow(200 * MIB + 1)).toBe('OUT_OF_RANGE');
    expect(await grow(200 * MIB)).toBe('OK');
  });

  test('K03 where nobody set a largest size: no more than a file can have here, and that much is made', async () => {
    const { maximum_volume_size } = await bench.csi.GetCapacity();
    const largest = BigInt(maximum_volume_size?.value ?? 0);
    const create = (bytes: bigint) =>
      outcome(
        bench.csi.CreateVolume({
          name: `K03 ${bytes}`,
          volume_capabilities: [mountCapability()],
          capacity_range: { required_bytes: `${bytes}` },
        }),
      );
    expect(await create(largest)).toBe('OK');
    expect(await create(largest + 1n)).toBe('OUT_OF_RANGE');
  });

  test.each(['ext4', 'xfs', 'btrfs'])('K04 the smallest size for %s is one that is made', async (fsType) => {
    const volume_capabilities = [mountCapability({ fsType })];
    const { minimum_volume_size } = await bench.csi.GetCapacity({ volume_capabilities });
    const least = minimum_volume_size?.value ?? '';
    const create = (name: string, bytes: string) =>
      bench.csi.CreateVolume({
        name: `${name} ${fsType}`,
        volume_capabilities,
        capacity_range: { required_bytes: bytes, limit_bytes: bytes },
      });
    expect((await create('least', least)).volume?.capacity_bytes).toBe(least);
    expect(await outcome(create('less', `${BigInt(least) - 1n}`))).toBe('OUT_OF_RANGE');
  });

  test('K04 where the smallest is larger than the largest there is nothing', async () => {
    const driver = await bench.start({ maxVolumeBytes: BigInt(100 * MIB) });
    const volume_capabilities = [mountCapability({ fsType: 'xfs' })];
    expect((await driver.csi.GetCapacity({ volume_capabilities })).available_capacity).toBe('0');
  });

  test('K05 a topology that some node is in, one that none is in, and one without the capability', async () => {
    const at = (name: string) => ({ accessible_topology: { segments: { [ZONE]: name } } });
    expect((await bench.csi.GetCapacity(at('nowhere'))).available_capacity).toBe('0');
    expect(BigInt((await bench.csi.GetCapacity(at('a'))).available_capacity)).toBeGreaterThan(0n);
    const { csi } = await bench.start({ capabilities: '-VOLUME_ACCESSIBILITY_CONSTRAINTS' });
    expect(await outcome(csi.GetCapacity(at('a')))).toBe('INVALID_ARGUMENT');
    expect(await outcome(csi.GetCapacity())).toBe('OK');
  });
});
