import { verdict, without } from './support';

describe('mutable_parameters without MODIFY_VOLUME', () => {
  const config = without('controller', 'MODIFY_VOLUME');

  test.each(['CreateVolume', 'ValidateVolumeCapabilities'] as const)('%s takes none', (method) => {
    expect(verdict(method, { mutable_parameters: { iops: '100' } }, config)).toBe(
      'INVALID_ARGUMENT mutable_parameters: expected it unset, as controller capability MODIFY_VOLUME is not advertised; found it set',
    );
    expect(verdict(method, { mutable_parameters: {} }, config)).toBe('OK');
    expect(verdict(method, { mutable_parameters: { iops: '100' } })).toBe('OK');
  });
});

describe('readonly without PUBLISH_READONLY', () => {
  const config = without('controller', 'PUBLISH_READONLY');

  test('ControllerPublishVolume does not take it', () => {
    expect(verdict('ControllerPublishVolume', { readonly: true }, config)).toBe(
      'INVALID_ARGUMENT readonly: expected it unset, as controller capability PUBLISH_READONLY is not advertised; found it set',
    );
    expect(verdict('ControllerPublishVolume', { readonly: false }, config)).toBe('OK');
    expect(verdict('ControllerPublishVolume', { readonly: true })).toBe('OK');
  });

  test('NodePublishVolume does: the capability is about attaching', () => {
    expect(verdict('NodePublishVolume', { readonly: true }, config)).toBe('OK');
  });
});
