import type { BackendName } from '../../src/backends/backend';
import type { Host } from '../../src/host/host';
import type { Ground } from './arbitrary';

const KIB = 1n << 10n;
const MIB = 1n << 20n;

/** As measured with xfsprogs 6.1; ext4 holds a few files on that. */
const SMALLEST: Readonly<Record<string, bigint>> = { ext4: 256n * KIB, xfs: 300n * MIB };
const BLOCK = 4096n;

const common = {
  nodes: { 'node-1': 2, 'node-2': 1 },
  defaultSize: 2n * MIB,
} as const;

/** Disks with a filesystem on them, or raw. */
function disks(filesystems: readonly string[], longest: number): Ground {
  return {
    plugin: {
      ...common,
      pool: 700n * MIB,
      largest: 512n * MIB,
      types: ['mount', 'block'],
      filesystems,
      smallest: (type, fs) => (type === 'block' ? BLOCK : (SMALLEST[fs || 'ext4'] ?? BLOCK)),
      disks: true,
      growsMountedExt4: true,
      nodeGrows: true,
    },
    sizes: [BLOCK, MIB, 4n * MIB, 5n * MIB + 1n, 16n * MIB, 300n * MIB, 301n * MIB],
    named: ['', '', '', ...filesystems, 'zfs'],
    longest,
  };
}

/** Folders: a tmpfs, whose size counts, or a plain one. */
function folders(backend: 'tmpfs' | 'directory', longest: number): Ground {
  return {
    plugin: {
      ...common,
      pool: 36n * MIB,
      largest: 32n * MIB,
      types: ['mount'],
      filesystems: [backend],
      smallest: () => BLOCK,
      disks: false,
      growsMountedExt4: true,
      nodeGrows: backend === 'tmpfs',
    },
    sizes: [BLOCK, MIB, 4n * MIB, 16n * MIB, 24n * MIB],
    named: ['', '', '', backend, 'zfs'],
    longest,
  };
}

/** The same on a machine that may not be able to do all of it. */
export async function groundOn(host: Host, backend: BackendName, longest?: number): Promise<Ground> {
  const ground = groundOf(backend, longest);
  const { growMountedExt4 } = await host.abilities();
  return { ...ground, plugin: { ...ground.plugin, growsMountedExt4: growMountedExt4 === true } };
}

/** What each backend is tried with. */
export function groundOf(backend: BackendName, longest = 40): Ground {
  if (backend === 'tmpfs' || backend === 'directory') return folders(backend, longest);
  return disks(['ext4', 'xfs'], longest);
}
