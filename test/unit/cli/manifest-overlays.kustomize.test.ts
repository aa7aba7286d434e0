import { kustomizeBuild, OVERLAYS, overlayFolder } from '../../support/kustomize';
import type { Manifest } from '../../support/manifests';
import { keyOf, printed } from '../../support/printed-manifests';

// The first run on a machine compiles kustomize.
jest.setTimeout(10 * 60_000);

const byKey = (manifests: readonly Manifest[]) =>
  Object.fromEntries(manifests.map((one) => [keyOf(one), one]));

it.each(OVERLAYS)('%s is object by object what kustomize makes of deploy/overlays', async (overlay) => {
  const wanted = await kustomizeBuild(overlayFolder(overlay));
  const found = await printed('--overlay', overlay);
  expect(found.map(keyOf).sort()).toEqual(wanted.map(keyOf).sort());
  expect(byKey(found)).toEqual(byKey(wanted));
});
