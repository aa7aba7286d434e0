import { createVolume, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('ControllerModifyVolume', (bench) => {
  const modify = (volume_id: string, mutable_parameters: Record<string, string>) =>
    outcome(bench.csi.ControllerModifyVolume({ volume_id, mutable_parameters }));
  const has = async (volume_id: string, mutable_parameters: Record<string, string>) => {
    const { confirmed } = await bench.csi.ValidateVolumeCapabilities({
      volume_id,
      volume_capabilities: [mountCapability()],
      mutable_parameters,
    });
    return confirmed !== null;
  };

  test('M01 no parameters: INVALID_ARGUMENT on a volume, NOT_FOUND without one', async () => {
    const id = await createVolume(bench.driver);
    expect(await modify(id, {})).toBe('INVALID_ARGUMENT');
    expect(await modify('unknown', {})).toBe('NOT_FOUND');
    expect(await modify('unknown', { readAheadKiB: '4' })).toBe('NOT_FOUND');
    expect(await modify('', { readAheadKiB: '4' })).toBe('INVALID_ARGUMENT');
  });

  test.each([
    ['an unknown key', { XXX_FakeKey: 'x' }],
    ['an unknown key beside a known one', { readAheadKiB: '4096', XXX_FakeKey: 'x' }],
    ['a value out of range', { readAheadKiB: '-1' }],
    ['a bad value beside a good one', { readAheadKiB: '4096', deletionProtection: 'perhaps' }],
    ['a parameter that is not mutable', { backend: 'loop' }],
  ])('M02 %s: INVALID_ARGUMENT, and nothing is changed', async (_what, parameters) => {
    const id = await createVolume(bench.driver, { mutableParameters: { readAheadKiB: '64' } });
    expect(await modify(id, parameters)).toBe('INVALID_ARGUMENT');
    expect(await has(id, { readAheadKiB: '64' })).toBe(true);
    expect(await has(id, { readAheadKiB: '4096' })).toBe(false);
  });

  test('M03 keys that are not mentioned stay as they are', async () => {
    const id = await createVolume(bench.driver, {
      mutableParameters: { readAheadKiB: '64', deletionProtection: 'true' },
    });
    expect(await modify(id, { deletionProtection: 'false' })).toBe('OK');
    expect(await has(id, { readAheadKiB: '64', deletionProtection: 'false' })).toBe(true);
  });

  test('M04 the same call twice: OK, OK', async () => {
    const id = await createVolume(bench.driver);
    const parameters = { readAheadKiB: '512' };
    expect([await modify(id, parameters), await modify(id, parameters)]).toEqual(['OK', 'OK']);
    expect(await has(id, parameters)).toBe(true);
  });

  test('M05 immutable parameters and volume_context are as before', async () => {
    const { volume } = await bench.csi.CreateVolume({
      name: 'M05',
      volume_capabilities: [mountCapability()],
      parameters: { groupable: 'false' },
    });
    const id = volume?.volume_id ?? '';
    await modify(id, { readAheadKiB: '512' });
    expect((await bench.csi.ControllerGetVolume({ volume_id: id })).volume).toEqual(volume);
  });

  test("Kubernetes' own keys are taken and are no parameter of the volume", async () => {
    const id = await createVolume(bench.driver, { mutableParameters: { readAheadKiB: '64' } });
    const name = 'csi.storage.k8s.io/pvc/name';
    expect(await modify(id, { [name]: 'claim', readAheadKiB: '128' })).toBe('OK');
    expect(await has(id, { readAheadKiB: '128' })).toBe(true);
  });
});
