// The Debian packages the guest is made of: which are missing here, and installing them.
'use strict';

const { spawnSync } = require('node:child_process');

const { run } = require('./run.cjs');

/** Needed on the host: the emulator, and the tools that build its disk and initramfs. */
const HOST_PACKAGES = ['qemu-system-x86', 'busybox-static', 'e2fsprogs', 'kmod', 'util-linux', 'tar'];

/** Their files go into the guest's root disk, with the libraries they link to. */
const GUEST_PACKAGES = [
  'base-files',
  'bash',
  'btrfs-progs',
  'coreutils',
  'dash',
  'diffutils',
  'dmsetup',
  'e2fsprogs',
  'findutils',
  'grep',
  'gzip',
  'iproute2',
  'kmod',
  'libc-bin',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'mawk',
  'mount',
  'perl-base',
  'procps',
  'psmisc',
  'sed',
  'tar',
  'util-linux',
  'xfsprogs',
];

/** Installed versions by name; a package that is not installed has no entry. */
function installedVersions(names) {
  const query = spawnSync(
    'dpkg-query',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these are dpkg-query's own placeholders.
    ['-W', '-f', '${db:Status-Abbrev}\t${Package}\t${Version}\n', ...names],
    { encoding: 'utf8' },
  );
  if (query.error) {
    throw new Error(
      'the guest is built from Debian packages, and there is no dpkg-query here: run this on Debian 12 or newer, ' +
        'or in an unprivileged container of it (neither KVM nor mounting is needed)',
    );
  }
  const lines = query.stdout.split('\n').map((line) => line.split('\t'));
  return new Map(
    lines.filter(([status]) => status.startsWith('ii')).map(([, name, version]) => [name, version]),
  );
}

/**
 * Installs what is missing, as root; otherwise throws with the command to run.
 * @param {(line: string) => void} say told before anything is installed.
 * @returns {Map<string, string>} versions of the packages that go into the guest, by name.
 */
function ensurePackages(say) {
  const wanted = [...new Set([...HOST_PACKAGES, ...GUEST_PACKAGES])];
  const missing = wanted.filter((name) => !installedVersions(wanted).has(name));
  if (missing.length > 0) {
    const names = missing.join(' ');
    if (process.getuid() !== 0) {
      throw new Error(
        `Debian packages are missing; as root: apt-get install --no-install-recommends ${names}`,
      );
    }
    say(`installing Debian packages: ${names}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const patient = ['-o', 'DPkg::Lock::Timeout=600'];
    run('apt-get', ['update', ...patient], { env });
    run('apt-get', ['install', '-y', '--no-install-recommends', ...patient, ...missing], { env });
  }
  const versions = installedVersions(GUEST_PACKAGES);
  const absent = GUEST_PACKAGES.find((name) => !versions.has(name));
  if (absent !== undefined) throw new Error(`apt-get said it installed ${absent}, and it is not installed`);
  return versions;
}

module.exports = { ensurePackages };
