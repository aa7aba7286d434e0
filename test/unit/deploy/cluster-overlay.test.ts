import { describeKustomize, kustomizeBuild } from '../../support/kustomize';
import { type Manifest, podOf } from '../../support/manifests';

const { programsOf } = require('../../../scripts/lib/cluster/programs.cjs') as {
  programsOf(set: string): { programs: { name: string; version?: string }[] };
};

// The first run on a machine compiles kustomize.
jest.setTimeout(10 * 60_000);

const REGISTRY = 'registry.k8s.io/sig-storage';
/** No Go module serves these. */
const LEFT_OUT = ['csi-external-health-monitor-controller', 'liveness-probe'];

const FOLDERS = ['test/cluster/overlay', 'test/cluster/snapshot-controller', 'deploy/overlays/full'];

describeKustomize('what the cluster installs', () => {
  const built = new Map<string, Manifest[]>();
  const manifestsAt = (folder: string) => built.get(folder) ?? [];

  beforeAll(async () => {
    for (const folder of FOLDERS) built.set(folder, await kustomizeBuild(folder));
  });

  const containersAt = (folder: string) => manifestsAt(folder).flatMap((one) => podOf(one)?.containers ?? []);

  it('asks for images that are built, and for no other', () => {
    const images = programsOf('sidecars').programs.map(
      ({ name, version }) => `${REGISTRY}/${name}:${version}`,
    );
    const wanted = ['test/cluster/overlay', 'test/cluster/snapshot-controller']
      .flatMap(containersAt)
      .map(({ image }) => image);
    expect([...new Set(wanted)].sort()).toEqual(['fake-csi:dev', ...images].sort());
  });

  it('is deploy/overlays/full but for the sidecars that cannot be had, and what asks them', () => {
    const names = (folder: string) =>
      containersAt(folder)
        .map(({ name }) => name)
        .sort();
    const left = names('deploy/overlays/full').filter((name) => !LEFT_OUT.includes(name));
    expect(names('test/cluster/overlay')).toEqual(left);
    for (const { livenessProbe } of containersAt('test/cluster/overlay'))
      expect(livenessProbe).toBeUndefined();
    const others = (folder: string) => manifestsAt(folder).filter((one) => podOf(one) === undefined);
    expect(others('test/cluster/overlay')).toEqual(others('deploy/overlays/full'));
  });
});
