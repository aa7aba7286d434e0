import { blockCapability, createVolume, MODE, mountCapability } from '../support/lifecycle';
import { outcome, protocol } from './harness';

protocol('ValidateVolumeCapabilities', (bench) => {
  const validate = (volume_id: string, fields: object = {}) =>
    bench.csi.ValidateVolumeCapabilities({ volume_id, volume_capabilities: [mountCapability()], ...fields });

  test.each([
    ['raw block of a mount volume', blockCapability()],
    ['a filesystem that nobody knows', mountCapability({ fsType: 'ntfs' })],
  ])('V01 %s: OK, not confirmed, with a reason', async (_what, capability) => {
    const id = await createVolume(bench.driver);
    for (const volume_capabilities of [[capability], [mountCapability(), capability]]) {
      const { confirmed, message } = await validate(id, { volume_capabilities });
      expect(confirmed).toBeNull();
      expect(message).toMatch(/\S+ \S+/);
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(128);
    }
  });

  test('V01 an access mode that is not advertised: OK, not confirmed, with a reason', async () => {
    const driver = await bench.start({ capabilities: '-SINGLE_NODE_MULTI_WRITER' });
    const volume_id = await createVolume(driver);
    for (const mode of ['SINGLE_NODE_SINGLE_WRITER', 'SINGLE_NODE_MULTI_WRITER'] as const) {
      const { confirmed, message } = await driver.csi.ValidateVolumeCapabilities({
        volume_id,
        volume_capabilities: [mountCapability({ mode })],
      });
      expect([confirmed, message]).toEqual([null, expect.stringContaining('SINGLE_NODE_MULTI_WRITER')]);
    }
  });

  test('V02 all supported: confirmed repeats them, and contexts only when they came', async () => {
    const id = await createVolume(bench.driver, { capability: mountCapability() });
    const volume_capabilities = (Object.keys(MODE) as (keyof typeof MODE)[]).map((mode) =>
      mountCapability({ mode, mountFlags: ['noatime'] }),
    );
    const { confirmed, message } = await validate(id, { volume_capabilities });
    expect(message).toBe('');
    expect(confirmed?.volume_capabilities).toEqual(
      volume_capabilities.map((c) => expect.objectContaining(c)),
    );
    expect(confirmed).toMatchObject({ volume_context: {}, parameters: {}, mutable_parameters: {} });
  });

  test('V02 the context and parameters of the volume: confirmed with them', async () => {
    const parameters = { groupable: 'false' };
    const mutable_parameters = { readAheadKiB: '64' };
    const { volume } = await bench.csi.CreateVolume({
      name: 'V02',
      volume_capabilities: [mountCapability()],
      parameters,
      mutable_parameters,
    });
    const volume_context = volume?.volume_context ?? {};
    const { confirmed } = await validate(volume?.volume_id ?? '', {
      volume_context,
      parameters,
      mutable_parameters,
    });
    expect(confirmed).toMatchObject({ volume_context, parameters, mutable_parameters });
  });

  test('V03 an unknown volume: NOT_FOUND; missing fields first: INVALID_ARGUMENT', async () => {
    expect(await outcome(validate('unknown'))).toBe('NOT_FOUND');
    expect(await outcome(validate(''))).toBe('INVALID_ARGUMENT');
    expect(await outcome(validate('unknown', { volume_capabilities: [] }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(validate('unknown', { volume_capabilities: [{}] }))).toBe('INVALID_ARGUMENT');
  });

  test.each([
    ['a changed key of volume_context', { volume_context: { backend: 'other' } }],
    ['another parameter', { parameters: { groupable: 'false' } }],
    ['an unknown parameter', { parameters: { flavour: 'mint' } }],
    ['another mutable parameter', { mutable_parameters: { readAheadKiB: '4' } }],
  ])('V04 %s: not confirmed, with a reason', async (_what, fields) => {
    const id = await createVolume(bench.driver, {
      parameters: { groupable: 'true' },
      mutableParameters: { readAheadKiB: '64' },
    });
    const { confirmed, message } = await validate(id, fields);
    expect(confirmed).toBeNull();
    expect(message).toMatch(/\S+ \S+/);
  });

  test('V05 without a single controller capability it still answers', async () => {
    const driver = await bench.start({ capabilities: 'none,CONTROLLER_SERVICE' });
    const call = driver.csi.ValidateVolumeCapabilities({
      volume_id: 'unknown',
      volume_capabilities: [mountCapability()],
    });
    expect(await outcome(call)).toBe('NOT_FOUND');
  });

  test('V06 a volume in use is judged all the same, again and again', async () => {
    const id = await createVolume(bench.driver);
    await bench.csi.ControllerPublishVolume({
      volume_id: id,
      node_id: 'node-1',
      volume_capability: mountCapability(),
    });
    const first = await validate(id);
    expect(first.confirmed).not.toBeNull();
    expect(await validate(id)).toEqual(first);
  });
});
