import * as path from 'node:path';
import { kustomizeBuild } from '../../support/kustomize';
import { type Manifest, podOf, ROOT } from '../../support/manifests';

const { programsOf } = require('../../../scripts/lib/cluster/programs.cjs') as {
  programsOf(set: string): { programs: { name: string; version?: string }[] };
};
const { LINE_NAMES, lineFolder } = require('../../../scripts/lib/cluster/lines.cjs') as {
  LINE_NAMES: readonly string[];
  lineFolder(line: string, name: string): string;
};

// The first run on a machine compiles kustomize.
jest.setTimeout(10 * 60_000);

const REGISTRY = 'registry.k8s.io/sig-storage';
/** No Go module serves these. */
const LEFT_OUT = ['csi-external-health-monitor-controller', 'liveness-probe'];

/** As storage.k8s.io/v1 they came with Kubernetes 1.34. */
const WITHOUT_ATTRIBUTES_CLASSES = ['1.32'];

const FULL = 'deploy/overlays/full';
const SNAPSHOTS = 'test/cluster/snapshot-controller';
const overlayOf = (line: string) => path.relative(ROOT, lineFolder(line, 'overlay'));

describe('what the cluster installs', () => {
  const built = new Map<string, Manifest[]>();
  const manifestsAt = (folder: string) => built.get(folder) ?? [];

  beforeAll(async () => {
    for (const folder of [FULL, SNAPSHOTS, ...LINE_NAMES.map(overlayOf)])
      built.set(folder, await kustomizeBuild(folder));
  });

  const containersAt = (folder: string) => manifestsAt(folder).flatMap((one) => podOf(one)?.containers ?? []);

  describe.each(LINE_NAMES)('in Kubernetes %s', (line) => {
    const overlay = overlayOf(line);

    it('asks for images that are built, and for no other', () => {
      const images = programsOf('sidecars').programs.map(
        ({ name, version }) => `${REGISTRY}/${name}:${version}`,
      );
      const wanted = [overlay, SNAPSHOTS].flatMap(containersAt).map(({ image }) => image);
      expect([...new Set(wanted)].sort()).toEqual(['fake-csi:dev', ...images].sort());
    });

    it('is deploy/overlays/full but for the sidecars that cannot be had, and what asks them', () => {
      const names = (folder: string) =>
        containersAt(folder)
          .map(({ name }) => name)
          .sort();
      const left = names(FULL).filter((name) => !LEFT_OUT.includes(name));
      expect(names(overlay)).toEqual(left);
      for (const { livenessProbe } of containersAt(overlay)) expect(livenessProbe).toBeUndefined();
      const others = (folder: string) => manifestsAt(folder).filter((one) => podOf(one) === undefined);
      const served = ({ kind }: Manifest) =>
        kind !== 'VolumeAttributesClass' || !WITHOUT_ATTRIBUTES_CLASSES.includes(line);
      expect(others(overlay)).toEqual(others(FULL).filter(served));
    });
  });
});
