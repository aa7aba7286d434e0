import type { ManifestOptions } from '../../src/cli/manifest/manifest';

/** What `fake-csi manifest --overlay full` means. */
export const DEFAULTS: ManifestOptions = {
  overlay: 'full',
  snapshots: true,
  driverName: 'fake.csi.test',
  namespace: 'kube-system',
  kubeletDir: '/var/lib/kubelet',
  dataDir: '/var/lib/fake-csi',
  backend: 'loop',
  topology: [],
  strict: false,
  scenarios: [],
  only: [],
};
