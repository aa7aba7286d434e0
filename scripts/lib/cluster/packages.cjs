// Debian's packages that a cluster runs from.
'use strict';

const { run, must } = require('./command.cjs');

/** Of the cluster itself. */
const CLUSTER_PACKAGES = [
  'busybox-static',
  'containerd',
  'containernetworking-plugins',
  'curl',
  'etcd-server',
  'iproute2',
  'mount',
  'runc',
  'tar',
  'util-linux',
];

/** Of what builds the driver's image from the Dockerfile. */
const IMAGE_PACKAGES = ['debootstrap', 'docker.io', 'tar'];

// biome-ignore lint/suspicious/noTemplateCurlyInString: these are dpkg-query's own placeholders.
const QUERY = ['dpkg-query', '-W', '-f', '${db:Status-Abbrev} ${Package}\n'];

async function missingPackages(wanted) {
  const { status, stdout } = await run([...QUERY, ...wanted]);
  if (status === 127)
    throw new Error('the cluster runs from packages of Debian 12 or newer, and there is no dpkg-query here');
  const installed = stdout
    .split('\n')
    .filter((line) => line.startsWith('ii'))
    .map((line) => line.split(' ').at(-1));
  return wanted.filter((name) => !installed.includes(name));
}

/** Installs what is missing; asks nothing and starts no service. @param {(line: string) => void} say */
async function ensurePackages(wanted, say) {
  const missing = await missingPackages(wanted);
  if (missing.length === 0) return;
  say(`installing ${missing.join(', ')}`);
  const patient = ['-o', 'DPkg::Lock::Timeout=300'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await must(['apt-get', ...patient, 'update'], { env });
  await must(['apt-get', ...patient, 'install', '-y', '--no-install-recommends', ...missing], { env });
}

module.exports = { CLUSTER_PACKAGES, IMAGE_PACKAGES, ensurePackages };
