import { parse } from 'yaml';
import { readServe } from '../../../src/cli/manifest/read-serve';
import { createMemoryHost } from '../../../src/host/memory';
import { CAPABILITIES } from '../../../src/services/capabilities';
import { TestDriver } from '../../support/driver';
import { kustomizeBuild, OVERLAYS, type Overlay, overlayFolder } from '../../support/kustomize';
import {
  argument,
  type Container,
  containerOf,
  type Manifest,
  manifestsOf,
  named,
  ofKind,
  only,
  outside,
  type PodSpec,
  podOf,
} from '../../support/manifests';

// The first run on a machine compiles kustomize.
jest.setTimeout(10 * 60_000);

const DRIVER = 'fake.csi.test';

const built = new Map<Overlay, Manifest[]>();

const of = (overlay: Overlay) => built.get(overlay) ?? [];
const podNamed = (overlay: Overlay, kind: string): PodSpec => {
  const pod = podOf(named(of(overlay), kind));
  if (pod === undefined) throw new Error(`${kind} has no pod`);
  return pod;
};
/** Every pod that runs our container, with it. */
const ours = (overlay: Overlay): { kind: string; pod: PodSpec; container: Container }[] =>
  of(overlay).flatMap((manifest) => {
    const pod = podOf(manifest);
    return pod ? [{ kind: manifest.kind, pod, container: containerOf(pod, 'fake-csi') }] : [];
  });

/** As `fake-csi serve` reads them; a word that is no option throws. */
function configOf({ args = [], env = [] }: Container) {
  const [command, ...words] = args;
  expect(command).toBe('serve');
  const environment = Object.fromEntries(env.map(({ name, value }) => [name, value ?? `<${name}>`]));
  return readServe(words, environment);
}

describe('kustomize build', () => {
  beforeAll(async () => {
    for (const overlay of OVERLAYS) built.set(overlay, await kustomizeBuild(overlayFolder(overlay)));
  });

  it('of node-only has one container on each node, and of full the controller too', () => {
    const kinds = (overlay: Overlay) => [...new Set(of(overlay).map(({ kind }) => kind))].sort();
    expect(kinds('node-only')).toEqual(['CSIDriver', 'ConfigMap', 'DaemonSet', 'ServiceAccount']);
    expect(podNamed('node-only', 'DaemonSet').containers.map(({ name }) => name)).toEqual(['fake-csi']);
    expect(kinds('full')).toEqual(
      expect.arrayContaining([
        'Deployment',
        'ClusterRole',
        'StorageClass',
        'VolumeAttributesClass',
        'VolumeSnapshotClass',
      ]),
    );
    expect(
      podNamed('full', 'Deployment')
        .containers.map(({ name }) => name)
        .sort(),
    ).toEqual([
      'csi-attacher',
      'csi-external-health-monitor-controller',
      'csi-provisioner',
      'csi-resizer',
      'csi-snapshotter',
      'fake-csi',
      'liveness-probe',
    ]);
  });

  describe.each(OVERLAYS)('of %s', (overlay) => {
    it('labels everything', () => {
      for (const { kind, metadata } of of(overlay))
        expect({ kind, name: metadata.name, labels: metadata.labels }).toMatchObject({
          labels: {
            app: 'fake-csi',
            'app.kubernetes.io/name': 'fake-csi',
            'app.kubernetes.io/instance': DRIVER,
            'app.kubernetes.io/part-of': 'fake-csi',
            'app.kubernetes.io/component': expect.any(String),
          },
        });
    });

    it('finds its pods by app and role', () => {
      for (const kind of ['DaemonSet', 'Deployment'])
        for (const { spec } of ofKind(of(overlay), kind)) {
          const { selector, template } = spec as {
            selector: { matchLabels: Record<string, string> };
            template: { metadata: { labels: Record<string, string> } };
          };
          const role = kind === 'DaemonSet' ? 'node' : 'controller';
          expect(selector.matchLabels).toEqual({ app: 'fake-csi', role });
          expect(template.metadata.labels).toMatchObject({
            ...selector.matchLabels,
            'app.kubernetes.io/instance': DRIVER,
          });
        }
    });

    it('is in kube-system, so far as it is in a namespace', () => {
      const namespaced = ['ConfigMap', 'DaemonSet', 'Deployment', 'ServiceAccount'];
      for (const { kind, metadata } of of(overlay))
        expect([kind, metadata.name, metadata.namespace]).toEqual([
          kind,
          metadata.name,
          namespaced.includes(kind) ? 'kube-system' : undefined,
        ]);
    });

    it('takes every image in the version of deploy/versions', () => {
      const { images } = manifestsOf('versions/kustomization.yaml')[0] as unknown as {
        images: { name: string; newTag: string }[];
      };
      const versions = images.map(({ name, newTag }) => `${name}:${newTag}`);
      const used = of(overlay).flatMap((one) => podOf(one)?.containers.map(({ image }) => image) ?? []);
      expect(versions).toEqual(expect.arrayContaining(used));
      for (const { newTag } of images) expect(newTag).toMatch(/^(dev|v\d+\.\d+\.\d+)$/);
      if (overlay === 'full') expect([...new Set(used)].sort()).toEqual(versions.sort());
    });

    it('gives our containers options that serve takes', () => {
      for (const { kind, container } of ours(overlay)) {
        const config = configOf(container);
        expect(config.driverName).toBe(DRIVER);
        expect(config.profile).toBe(kind === 'DaemonSet' ? 'node' : 'controller');
        // What is not really mounted must not pass for a volume.
        expect(config.args.backend).toBe('loop');
      }
    });

    it('lets mounts made in the node container reach the kubelet, at the paths that the kubelet names', () => {
      const pod = podNamed(overlay, 'DaemonSet');
      const container = containerOf(pod, 'fake-csi');
      const { kubelet, socket } = configOf(container);
      expect(kubelet).toMatchObject({ register: true, dir: '/var/lib/kubelet' });
      const mount = only(
        container.volumeMounts?.filter(({ mountPath }) => mountPath === kubelet?.dir) ?? [],
        'mount of the kubelet folder',
      );
      expect(mount.mountPropagation).toBe('Bidirectional');
      expect(outside(pod, container, socket)).toBe(socket);
      expect(socket).toBe(`${kubelet?.dir}/plugins/${DRIVER}/csi.sock`);
      expect(container.env).toEqual([
        {
          name: 'FAKE_CSI_NODE_ID',
          valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } },
        },
      ]);
    });

    it('has processes that mount, on one data folder and the devices of the node', () => {
      const folders = ours(overlay).map(({ pod, container }) => {
        expect(container.securityContext?.privileged).toBe(true);
        expect(outside(pod, container, '/dev')).toBe('/dev');
        return outside(pod, container, configOf(container).dataDir);
      });
      const kind = manifestsOf('kind/cluster.yaml')[0] as unknown as {
        nodes: { extraMounts: { containerPath: string; hostPath: string }[] }[];
      };
      for (const { extraMounts } of kind.nodes)
        folders.push(...extraMounts.map(({ containerPath }) => containerPath));
      expect(new Set(folders)).toEqual(new Set(['/var/lib/fake-csi']));
      expect(new Set(kind.nodes.map(({ extraMounts }) => JSON.stringify(extraMounts))).size).toBe(1);
    });

    it('loads the scenarios without arming them, and arms those of a ConfigMap that may be absent', () => {
      for (const { pod, container } of ours(overlay)) {
        const { gallery, scenarios } = configOf(container);
        const mapAt = (places: readonly string[]) => {
          const place = only(places, 'place of scenarios');
          const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === place);
          return pod.volumes?.find(({ name }) => name === mount?.name)?.configMap;
        };
        expect(mapAt(gallery)).toEqual({ name: 'fake-csi-scenarios' });
        expect(mapAt(scenarios)).toEqual({ name: 'fake-csi-armed', optional: true });
      }
      const { data = {} } = named(of(overlay), 'ConfigMap', 'fake-csi-scenarios');
      expect(Object.keys(data).length).toBeGreaterThan(60);
      for (const [file, text] of Object.entries(data))
        expect([file, parse(text)]).toMatchObject([file, { kind: 'Scenario' }]);
    });

    it('has sidecars that speak to the socket of the driver beside them, with no privileges', () => {
      for (const { pod, container } of ours(overlay)) {
        const socket = outside(pod, container, configOf(container).socket);
        for (const sidecar of pod.containers.filter((one) => one !== container)) {
          expect([sidecar.name, outside(pod, sidecar, argument(sidecar, 'csi-address'))]).toEqual([
            sidecar.name,
            socket,
          ]);
          expect(sidecar.securityContext).toMatchObject({
            runAsUser: 0,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          });
        }
      }
    });

    it('asks for the health of a driver where livenessprobe tells it', () => {
      for (const { pod, container } of ours(overlay)) {
        const probe = pod.containers.find(({ name }) => name === 'liveness-probe');
        if (probe === undefined) {
          expect(container.livenessProbe).toBeUndefined();
          continue;
        }
        const port = container.ports?.find(({ name }) => name === container.livenessProbe?.httpGet.port);
        expect(`${port?.containerPort}`).toBe(argument(probe, 'health-port'));
      }
    });

    it('has accounts for its pods', () => {
      for (const { pod } of ours(overlay)) named(of(overlay), 'ServiceAccount', pod.serviceAccountName);
    });

    it('tells the cluster of the driver what the driver says of itself', async () => {
      const csiDriver = named(of(overlay), 'CSIDriver');
      const spoken = [];
      for (const { container } of ours(overlay)) spoken.push(await askDriver(container));
      const plugin = spoken.map(({ pluginCapabilities }) => pluginCapabilities);
      for (const one of plugin) expect(one).toEqual(plugin[0]);
      for (const { name } of spoken) expect(name).toBe(csiDriver.metadata.name);
      const rpcs = new Set(spoken.flatMap(({ controllerCapabilities }) => controllerCapabilities));
      const node = new Set(spoken.flatMap(({ nodeCapabilities }) => nodeCapabilities));
      expect(csiDriver.spec).toEqual({
        attachRequired: plugin[0]?.includes('CONTROLLER_SERVICE') && rpcs.has('PUBLISH_UNPUBLISH_VOLUME'),
        podInfoOnMount: true,
        fsGroupPolicy: node.has('VOLUME_MOUNT_GROUP') ? 'File' : 'ReadWriteOnceWithFSType',
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        storageCapacity: false,
        requiresRepublish: false,
      });
      // Each sidecar has the capability that it is there for.
      const needs = {
        provisioner: 'CREATE_DELETE_VOLUME',
        attacher: 'PUBLISH_UNPUBLISH_VOLUME',
        resizer: 'EXPAND_VOLUME',
        snapshotter: 'CREATE_DELETE_SNAPSHOT',
        'external-health-monitor-controller': 'VOLUME_CONDITION',
      };
      const sidecars = ours(overlay).flatMap(({ pod }) => pod.containers.map(({ name }) => name));
      for (const [sidecar, capability] of Object.entries(needs))
        expect([sidecar, rpcs.has(capability)]).toEqual([sidecar, sidecars.includes(`csi-${sidecar}`)]);
    });
  });

  it('of full makes claims as scenarios need them', () => {
    const args = containerOf(podNamed('full', 'Deployment'), 'csi-provisioner').args;
    expect(args).toEqual(expect.arrayContaining(['--default-fstype=ext4', '--extra-create-metadata']));
  });
});

/** Starts the driver as the container does, but for the model of a machine and a socket of its own. */
async function askDriver(container: Container) {
  const { args, profile, advertise, driverName } = configOf(container);
  const driver = await TestDriver.start({
    backend: 'memory',
    host: createMemoryHost(),
    profile,
    advertise,
    driverName,
    capabilities: args.capabilities,
  });
  try {
    const { csi } = driver;
    const { name } = await csi.GetPluginInfo();
    const plugin = await csi.GetPluginCapabilities();
    const node = profile === 'node' ? await csi.NodeGetCapabilities() : undefined;
    const controller = profile === 'controller' ? await csi.ControllerGetCapabilities() : undefined;
    return {
      name,
      pluginCapabilities: plugin.capabilities.flatMap(({ service }) =>
        service ? namesOf('plugin', service.type) : [],
      ),
      nodeCapabilities: (node?.capabilities ?? []).flatMap(({ rpc }) =>
        rpc ? namesOf('node', rpc.type) : [],
      ),
      controllerCapabilities: (controller?.capabilities ?? []).flatMap(({ rpc }) =>
        rpc ? namesOf('controller', rpc.type) : [],
      ),
    };
  } finally {
    await driver.close();
  }
}

/** Capability names by their numbers on the wire. */
function namesOf(kind: keyof typeof CAPABILITIES, number: unknown): string[] {
  return Object.entries(CAPABILITIES[kind])
    .filter(([name, value]) => value === number && name !== 'ONLINE' && name !== 'OFFLINE')
    .map(([name]) => name);
}
