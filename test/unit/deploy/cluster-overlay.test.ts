import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { type Manifest, manifestsIn, podOf, ROOT } from '../../support/manifests';

const { Children } = require('../../../scripts/lib/process.cjs') as { Children: new () => object };
const { buildKustomize, kustomizeProblem } = require('../../../scripts/lib/kustomize.cjs') as {
  buildKustomize(children: object, root: string): Promise<string>;
  kustomizeProblem(root: string): string | null;
};
const { programsOf } = require('../../../scripts/lib/cluster/programs.cjs') as {
  programsOf(set: string): { programs: { name: string; version?: string }[] };
};

// The first run on a machine compiles kustomize.
jest.setTimeout(10 * 60_000);

const REGISTRY = 'registry.k8s.io/sig-storage';
/** No Go module serves these. */
const LEFT_OUT = ['csi-external-health-monitor-controller', 'liveness-probe'];

const problem = kustomizeProblem(ROOT);
const reason = problem === null ? '' : ` (${problem})`;

(problem === null ? describe : describe.skip)(`what the cluster installs${reason}`, () => {
  let manifestsAt: (folder: string) => Manifest[];

  beforeAll(async () => {
    const kustomize = await buildKustomize(new Children(), ROOT);
    manifestsAt = (folder) => {
      const options = { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 } as const;
      return manifestsIn(execFileSync(kustomize, ['build', path.join(ROOT, folder)], options), folder);
    };
  });

  const containersAt = (folder: string) => manifestsAt(folder).flatMap((one) => podOf(one)?.containers ?? []);

  it('asks for images that are built, and for no other', () => {
    const built = programsOf('sidecars').programs.map(
      ({ name, version }) => `${REGISTRY}/${name}:${version}`,
    );
    const wanted = ['test/cluster/overlay', 'test/cluster/snapshot-controller']
      .flatMap(containersAt)
      .map(({ image }) => image);
    expect([...new Set(wanted)].sort()).toEqual(['fake-csi:dev', ...built].sort());
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
