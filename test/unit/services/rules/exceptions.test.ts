import { mount, verdict } from './support';

/**
 * Where csi-sanity and the specification pull apart, an existence check must come first: the rules stay silent
 * and the service answers.
 */
describe('left to the service', () => {
  test.each(['NodeGetVolumeStats', 'NodeExpandVolume'] as const)('%s: a relative volume_path', (method) => {
    expect(verdict(method, { volume_path: 'some/path' })).toBe('OK');
  });

  test.each(['GetVolumeGroupSnapshot', 'DeleteVolumeGroupSnapshot'] as const)(
    '%s: no snapshot_ids',
    (method) => {
      expect(verdict(method, { snapshot_ids: [] })).toBe('OK');
    },
  );

  test('ControllerModifyVolume: no mutable_parameters', () => {
    expect(verdict('ControllerModifyVolume', { mutable_parameters: {} })).toBe('OK');
  });

  test.each([{}, { 'csi.storage.k8s.io/ephemeral': 'true' }])(
    'NodePublishVolume: no staging_target_path, context %j',
    (volume_context) => {
      expect(verdict('NodePublishVolume', { staging_target_path: '', volume_context })).toBe('OK');
    },
  );

  test('ControllerUnpublishVolume: no node_id means all nodes', () => {
    expect(verdict('ControllerUnpublishVolume', { node_id: '' })).toBe('OK');
  });

  test('contexts with keys of the CO or of nobody', () => {
    const context = { device: '/dev/sdx', 'storage.kubernetes.io/csiProvisionerIdentity': '1-8081-fake' };
    expect(verdict('NodeStageVolume', { publish_context: context, volume_context: context })).toBe('OK');
  });
});

/** Order: a missing field is told before a value that is out of range. */
describe('INVALID_ARGUMENT beats OUT_OF_RANGE', () => {
  const impossible = { required_bytes: '2', limit_bytes: '1' };

  test('CreateVolume without a name or a capability', () => {
    expect(verdict('CreateVolume', { name: '', capacity_range: impossible })).toMatch(
      /^INVALID_ARGUMENT name/,
    );
    expect(verdict('CreateVolume', { volume_capabilities: [], capacity_range: impossible })).toMatch(
      /^INVALID_ARGUMENT volume_capabilities/,
    );
  });

  test('expansion with a bad capability', () => {
    const wrong = { capacity_range: impossible, volume_capability: { mount: {} } };
    expect(verdict('ControllerExpandVolume', wrong)).toMatch(/^INVALID_ARGUMENT volume_capability/);
    expect(verdict('NodeExpandVolume', wrong)).toMatch(/^INVALID_ARGUMENT volume_capability/);
  });

  test('metadata without a snapshot', () => {
    expect(verdict('GetMetadataDelta', { target_snapshot_id: '', starting_offset: '-1' })).toMatch(
      /^INVALID_ARGUMENT target_snapshot_id/,
    );
  });
});

test('a missing capability is told before a missing staging path (csi-sanity, NodePublishVolume)', () => {
  expect(verdict('NodePublishVolume', { volume_capability: null, staging_target_path: '' })).toMatch(
    /^INVALID_ARGUMENT volume_capability/,
  );
});

test('what the kubelet sends is fine', () => {
  const uid = '6f0c9a1e-7f3b-4a44-9d55-000000000000';
  const hash = '0123456789abcdef'.repeat(4);
  expect(
    verdict('NodePublishVolume', {
      volume_id: `pvc-${uid}`,
      publish_context: { devicePath: '/dev/loop7' },
      staging_target_path: `/var/lib/kubelet/plugins/kubernetes.io/csi/fake.csi.test/${hash}/globalmount`,
      target_path: `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~csi/pvc-${uid}/mount`,
      volume_capability: { ...mount, mount: { fs_type: 'ext4', mount_flags: ['noatime'] } },
      readonly: true,
      secrets: { 'csi.storage.k8s.io/serviceAccount.tokens': '{"":{"token":"eyJhbGci"}}', user: 'admin' },
      volume_context: {
        'csi.storage.k8s.io/pod.name': 'web-0',
        'csi.storage.k8s.io/pod.namespace': 'default',
        'csi.storage.k8s.io/pod.uid': uid,
        'csi.storage.k8s.io/serviceAccount.name': 'default',
        'csi.storage.k8s.io/ephemeral': 'false',
        'storage.kubernetes.io/csiProvisionerIdentity': '1700000000000-8081-fake.csi.test',
      },
    }),
  ).toBe('OK');
});
