import { mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const volume_capabilities = [mountCapability()];

conformance('CreateVolume with parameters', (bench) => {
  const create = (name: string, fields: object) =>
    bench.csi.CreateVolume({ name, volume_capabilities, ...fields });

  test('C29 mutable_parameters without MODIFY_VOLUME: INVALID_ARGUMENT', async () => {
    const { csi } = await bench.start({ capabilities: '-MODIFY_VOLUME' });
    const mutable_parameters = { readAheadKiB: '128' };
    expect(await outcome(csi.CreateVolume({ name: 'v', volume_capabilities, mutable_parameters }))).toBe(
      'INVALID_ARGUMENT',
    );
    expect(await outcome(csi.CreateVolume({ name: 'v', volume_capabilities }))).toBe('OK');
  });

  test('C30 the same key in both maps: the value of mutable_parameters', async () => {
    const parameters = { deletionProtection: 'true' };
    const mutable_parameters = { deletionProtection: 'false' };
    const { volume } = await create('C30', { parameters, mutable_parameters });
    expect(await outcome(bench.csi.DeleteVolume({ volume_id: volume?.volume_id ?? '' }))).toBe('OK');

    const turned = { parameters: mutable_parameters, mutable_parameters: parameters };
    const protectedVolume = (await create('C30', turned)).volume?.volume_id ?? '';
    expect(await outcome(bench.csi.DeleteVolume({ volume_id: protectedVolume }))).toBe('FAILED_PRECONDITION');
    // The wanted value is also the one that a repeat must name.
    expect(await outcome(create('C30', { parameters: {}, mutable_parameters: parameters }))).toBe('OK');
    expect(await outcome(create('C30', { parameters, mutable_parameters }))).toBe('ALREADY_EXISTS');
  });

  test.each([
    ['an unknown key', { parameters: { flavour: 'mint' } }],
    ['an unknown backend', { parameters: { backend: 'tape' } }],
    ['a value that is no boolean', { parameters: { groupable: 'perhaps' } }],
    ['an unknown mutable key', { mutable_parameters: { XXX_FakeKey: 'x' } }],
    ['a mutable value out of range', { mutable_parameters: { readAheadKiB: '-1' } }],
    ['an immutable key among the mutable ones', { mutable_parameters: { backend: 'loop' } }],
    ['a name of Object', { parameters: { constructor: 'x' } }],
  ])('%s: INVALID_ARGUMENT', async (_what, fields) => {
    expect(await outcome(create('refused', fields))).toBe('INVALID_ARGUMENT');
  });

  test('what Kubernetes adds is taken', async () => {
    const parameters = {
      'csi.storage.k8s.io/pvc/name': 'claim',
      'csi.storage.k8s.io/pvc/namespace': 'default',
      'csi.storage.k8s.io/pv/name': 'pv',
      'csi.storage.k8s.io/fstype': 'xfs',
    };
    expect(await outcome(create('kubernetes', { parameters }))).toBe('OK');
  });
});
