import * as path from 'node:path';
import { makeManifest } from '../../../src/cli/manifest/manifest';
import { readVolumeParameters } from '../../../src/services/parameters';
import { runCli } from '../../support/cli';
import { OVERLAYS } from '../../support/kustomize';
import { DEFAULTS } from '../../support/manifest-options';
import {
  argument,
  type Container,
  containerOf,
  type Manifest,
  named,
  ofKind,
  outside,
  podOf,
  ROOT,
} from '../../support/manifests';
import { keyOf, printed } from '../../support/printed-manifests';

describe('flags change every place that has to agree', () => {
  const CHANGED = [
    '--driver-name=second.fake.test',
    '--namespace=storage',
    '--image=registry.example.com:5000/team/fake-csi:1',
    '--kubelet-dir=/var/lib/k0s/kubelet',
    '--data-dir=/srv/fake',
    '--capacity=100Gi',
    '--default-size=2Gi',
    '--max-volume-size=50Gi',
    '--max-volumes-per-node=7',
    '--topology=example.com/zone=a',
    '--topology=example.com/rack=1',
    '--log-level=warn',
    '--strict',
  ];
  const built = new Map<string, Manifest[]>();
  beforeAll(async () => {
    for (const overlay of OVERLAYS) built.set(overlay, await printed('--overlay', overlay, ...CHANGED));
  });
  const of = (overlay: string) => built.get(overlay) ?? [];
  const ours = (overlay: string) =>
    of(overlay).flatMap((one) => {
      const pod = podOf(one);
      return pod ? [{ kind: one.kind, pod, container: containerOf(pod, 'fake-csi') }] : [];
    });

  describe.each(OVERLAYS)('of %s', (overlay) => {
    it('leaves no word of what was before', () => {
      const texts = of(overlay).map((one) => JSON.stringify({ ...one, data: undefined }));
      for (const word of ['fake.csi.test', 'kube-system', '"/var/lib/kubelet', ':///var/lib/kubelet'])
        expect(texts.filter((text) => text.includes(word))).toEqual([]);
    });

    it('keeps the texts of scenarios as they are', () => {
      const scenarios = (manifests: readonly Manifest[]) =>
        named(manifests, 'ConfigMap', 'fake-csi-scenarios').data;
      expect(scenarios(of(overlay))).toEqual(scenarios(makeManifest({ ...DEFAULTS, overlay }) as Manifest[]));
    });

    it('names the driver alike everywhere', () => {
      expect(named(of(overlay), 'CSIDriver').metadata.name).toBe('second.fake.test');
      for (const { container } of ours(overlay))
        expect(argument(container, 'driver-name')).toBe('second.fake.test');
      for (const { provisioner, driver, driverName, kind } of of(overlay)) {
        if (kind === 'StorageClass') expect(provisioner).toBe('second.fake.test');
        if (kind === 'VolumeSnapshotClass') expect(driver).toBe('second.fake.test');
        if (kind === 'VolumeAttributesClass') expect(driverName).toBe('second.fake.test');
      }
      for (const { metadata } of of(overlay))
        expect(metadata.labels?.['app.kubernetes.io/instance']).toBe('second.fake.test');
    });

    it('lets the kubelet find the socket and see the mounts', () => {
      const node = ours(overlay).find(({ kind }) => kind === 'DaemonSet');
      if (!node) throw new Error('no node');
      const { pod, container } = node;
      const socket = argument(container, 'endpoint').replace('unix://', '');
      expect(socket).toBe('/var/lib/k0s/kubelet/plugins/second.fake.test/csi.sock');
      expect(outside(pod, container, socket)).toBe(socket);
      expect(argument(container, 'kubelet-dir')).toBe('/var/lib/k0s/kubelet');
      const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === '/var/lib/k0s/kubelet');
      expect(mount?.mountPropagation).toBe('Bidirectional');
      for (const sidecar of pod.containers.filter((one) => one !== container))
        expect(outside(pod, sidecar, argument(sidecar, 'csi-address'))).toBe(socket);
    });

    it('keeps privileges, and the data folder of the pods on one of the nodes', () => {
      for (const { pod, container } of ours(overlay)) {
        expect(container.securityContext?.privileged).toBe(true);
        expect(container.image).toBe('registry.example.com:5000/team/fake-csi:1');
        // Where `fake-csi status` looks, which the readiness probe runs.
        expect(argument(container, 'data-dir')).toBe('/var/lib/fake-csi');
        expect(outside(pod, container, '/var/lib/fake-csi')).toBe('/srv/fake');
      }
    });

    it('gives serve the options, the limit of volumes to nodes alone', () => {
      for (const { kind, container } of ours(overlay)) {
        expect(argument(container, 'capacity')).toBe('100Gi');
        expect(argument(container, 'default-size')).toBe('2Gi');
        expect(argument(container, 'max-volume-size')).toBe('50Gi');
        expect(argument(container, 'log-level')).toBe('warn');
        expect(container.args).toEqual(
          expect.arrayContaining([
            '--strict',
            '--topology=example.com/zone=a',
            '--topology=example.com/rack=1',
          ]),
        );
        expect(container.args?.includes('--max-volumes-per-node=7')).toBe(kind === 'DaemonSet');
      }
    });
  });

  it('moves accounts and whom bindings name', () => {
    for (const { subjects = [] } of ofKind(of('full'), 'ClusterRoleBinding'))
      expect(subjects).toEqual([
        { kind: 'ServiceAccount', name: 'fake-csi-controller', namespace: 'storage' },
      ]);
    expect(named(of('full'), 'ServiceAccount', 'fake-csi-controller').metadata.namespace).toBe('storage');
  });

  it('keeps what CSIDriver says apart from its name', () => {
    for (const overlay of OVERLAYS)
      expect(named(of(overlay), 'CSIDriver').spec).toEqual(
        named(makeManifest({ ...DEFAULTS, overlay }) as Manifest[], 'CSIDriver').spec,
      );
  });

  it('replaces nothing in what it put there', () => {
    const driverName = 'x.fake.csi.test';
    const kubeletDir = '/var/lib/kubelet/fake.csi.test';
    const manifests = makeManifest({ ...DEFAULTS, driverName, kubeletDir }) as Manifest[];
    const pod = podOf(named(manifests, 'DaemonSet'));
    expect(argument(containerOf(pod as never, 'fake-csi') as Container, 'endpoint')).toBe(
      `unix://${kubeletDir}/plugins/${driverName}/csi.sock`,
    );
  });
});

describe('--backend', () => {
  it.each(['tmpfs', 'directory'])('%s leaves no class that its volumes refuse', (backend) => {
    const manifests = makeManifest({ ...DEFAULTS, backend }) as Manifest[];
    const classes = ofKind(manifests, 'StorageClass');
    for (const { metadata, parameters = {} } of classes) {
      const { own, fsType = '' } = readVolumeParameters(parameters, {});
      const taken = own.backend ?? backend;
      expect([metadata.name, taken === 'loop' || ['', taken].includes(fsType)]).toEqual([
        metadata.name,
        true,
      ]);
    }
    const backendOf = (name: string) => named(classes, 'StorageClass', name).parameters?.backend;
    expect(backendOf('fake-csi')).toBeUndefined();
    for (const name of ['fake-csi-xfs', 'fake-csi-block', 'fake-csi-wrong-fstype'])
      expect(backendOf(name)).toBe('loop');
    const controller = podOf(named(manifests, 'Deployment'));
    if (!controller) throw new Error('no controller');
    expect(argument(containerOf(controller, 'csi-provisioner'), 'default-fstype')).toBe(backend);
    for (const pod of manifests.flatMap((one) => podOf(one) ?? []))
      expect(argument(containerOf(pod, 'fake-csi'), 'backend')).toBe(backend);
  });
});

it('--no-snapshots leaves out csi-snapshotter, its role and its class, and nothing else', () => {
  const keys = (snapshots: boolean) =>
    makeManifest({ ...DEFAULTS, snapshots }).map((one) => keyOf(one as Manifest));
  const without = keys(false);
  expect(keys(true).filter((key) => !without.includes(key))).toEqual([
    'ClusterRole /fake-csi-snapshotter',
    'ClusterRoleBinding /fake-csi-snapshotter',
    'VolumeSnapshotClass /fake-csi',
  ]);
  const pod = podOf(named(makeManifest({ ...DEFAULTS, snapshots: false }) as Manifest[], 'Deployment'));
  expect(pod?.containers.map(({ name }) => name)).not.toContain('csi-snapshotter');
});

it('--scenario puts files into the ConfigMap that workloads arm, in their namespace', async () => {
  const file = path.join(ROOT, 'scenarios/slow-attach.yaml');
  const manifests = await printed('--namespace', 'storage', '--scenario', file, '--only', 'configmap');
  expect(manifests.map(keyOf)).toEqual([
    'ConfigMap storage/fake-csi-armed',
    'ConfigMap storage/fake-csi-scenarios',
  ]);
  const [armed, gallery] = manifests;
  expect(armed?.data).toEqual({ 'slow-attach.yaml': gallery?.data?.['slow-attach.yaml'] });
  expect(armed?.metadata.labels).toEqual(gallery?.metadata.labels);
});

it('--json gives one List of the same', async () => {
  const { out } = await runCli(['manifest', '--json']);
  expect(JSON.parse(out)).toEqual({ apiVersion: 'v1', kind: 'List', items: await printed() });
});

describe('a flag that cannot be', () => {
  it.each([
    [['--driver-name', 'Fake.Test'], /^fake-csi: --driver-name: expected lower case.*found "Fake.Test"/],
    [['--driver-name', 'a..b'], /^fake-csi: --driver-name: expected 1 to 63 .* found "a\.\.b"/],
    [['--namespace', 'a/b'], /^fake-csi: --namespace: expected .* found "a\/b"/],
    [['--image', 'a b'], /^fake-csi: --image: expected an image such as .* found "a b"/],
    [['--kubelet-dir', 'kubelet'], /^fake-csi: --kubelet-dir: expected the absolute path/],
    [['--kubelet-dir', `/${'k'.repeat(99)}`], /a Unix socket's path has at most 107 bytes/],
    [['--data-dir', '/srv/../x'], /^fake-csi: --data-dir: expected the absolute path/],
    [['--capacity', 'much'], /^fake-csi: --capacity: expected a size such as 10Gi .* found "much"/],
    [['--topology', 'zone'], /^fake-csi: --topology: expected \[prefix\/\]name=value, found "zone"/],
    [['--max-volumes-per-node', '-1'], /^fake-csi: --max-volumes-per-node: expected a whole number/],
    [['--only', 'Pod'], /^fake-csi: --only: expected kinds that are in it \(CSIDriver, .*found Pod/],
    [['--overlay', 'both'], /Choices: "node-only", "full"/],
    [['--namespace', 'a', '--namespace', 'b'], /^fake-csi: --namespace: expected it once/],
  ])('%j is told in a line, with exit code 2', async (words, expected) => {
    const { code, out, err } = await runCli(['manifest', ...words]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(expected);
  });

  it('a file that is no scenario is told with its line', async () => {
    const { code, out, err } = await runCli([
      'manifest',
      '--scenario',
      path.join(ROOT, 'deploy/kind/cluster.yaml'),
    ]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/cluster\.yaml:\d+:\d+: /);
  });
});
