// Installs the driver into a cluster as deploy/ does, as far as its sidecars can be had.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { provideImages } = require('./container-runtime.cjs');
const { driverArchive } = require('./driver-image.cjs');
const { makeImages } = require('./images.cjs');
const { lineFolder } = require('./lines.cjs');
const { moduleFolder, programsOf } = require('./programs.cjs');

const ROOT = path.join(__dirname, '../../..');

const OVERLAYS = {
  'node-only': () => path.join(ROOT, 'deploy/overlays/node-only'),
  full: (line) => lineFolder(line, 'overlay'),
};

const SNAPSHOT_CLIENT = 'github.com/kubernetes-csi/external-snapshotter/client/v8';
const ROLLOUT = '--timeout=120s';

/** The CRDs of snapshots and the controller that goes with them, once for all drivers. */
async function installSnapshots(cluster) {
  const crds = path.join(moduleFolder('sidecars', SNAPSHOT_CLIENT), 'config/crd');
  await cluster.mustKubectl(['apply', '--server-side', '-k', crds]);
  await cluster.mustKubectl(['wait', '--for=condition=Established', 'crd', '--all', ROLLOUT]);
  await cluster.mustKubectl(['apply', '-k', path.join(ROOT, 'test/cluster/snapshot-controller')]);
}

/** Why an overlay's images cannot be had yet, as one sentence; null when they can. */
function missingImages(overlay) {
  if (!fs.existsSync(driverArchive())) return "the driver's image is not made: npm run cluster -- image";
  if (overlay === 'full' && !programsOf('sidecars').complete)
    return 'the sidecars are not built: npm run cluster -- build';
  return null;
}

/**
 * Installs the driver and waits until its pods are Ready.
 * @param {'node-only' | 'full'} overlay
 * @throws Error with what kubectl said, or what has to be made first.
 */
async function deploy(cluster, overlay) {
  if (!Object.hasOwn(OVERLAYS, overlay))
    throw new Error(`expected one of ${Object.keys(OVERLAYS).join(', ')}, found "${overlay}"`);
  const missing = missingImages(overlay);
  if (missing !== null) throw new Error(missing);
  await provideImages(cluster, await makeImages());
  if (overlay === 'full') await installSnapshots(cluster);
  await cluster.mustKubectl(['apply', '-k', OVERLAYS[overlay](cluster.kubernetes)]);
  const status = ['--namespace=kube-system', 'rollout', 'status', ROLLOUT];
  await cluster.mustKubectl([...status, 'daemonset/fake-csi-node']);
  if (overlay === 'node-only') return;
  for (const name of ['snapshot-controller', 'fake-csi-controller'])
    await cluster.mustKubectl([...status, `deployment/${name}`]);
}

module.exports = { deploy };
