import type { Filesystems, FsType, ProbeResult } from '../host';
import {
  checkFormattable,
  checkLabel,
  encodeMemoryMarker,
  MEMORY_MARKER_OFFSET,
  MEMORY_MARKER_SIZE,
  type MemoryFilesystem,
  MINIMUM_BYTES,
  parseMemoryMarker,
  probeDisk,
  randomUuid,
  uuidText,
} from '../probe';
import { type MemoryDisk, withDisk } from './disk';
import type { MemoryLoops } from './loops';
import type { Superblock } from './superblocks';
import { failure } from './table';

const BLOCK_SIZE = 4096;
const MARKER_AT = BigInt(MEMORY_MARKER_OFFSET);

export interface MemoryFilesystemsDependencies {
  loops: MemoryLoops;
  randomBytes: (size: number) => Buffer;
  /** The superblock mounted at a path, its mount being its root. */
  mountedAt: (mountPoint: string) => Promise<Superblock | undefined>;
}

export const DAMAGED_MEMORY_FILESYSTEM = 'a damaged filesystem of the memory host';

/** What a disk holds: a filesystem of ours by its marker, or whatever else the parsers of real ones find. */
export async function probeMemoryDisk(disk: MemoryDisk): Promise<ProbeResult> {
  const marker = await readMarker(disk);
  if (marker === 'damaged') return { kind: 'unknown', what: DAMAGED_MEMORY_FILESYSTEM };
  if (marker === null) return probeDisk(disk);
  const { fsType, uuid, sizeBytes, blockSize } = marker;
  return { kind: 'filesystem', fsType, uuid, sizeBytes, blockSize };
}

async function readMarker(disk: MemoryDisk): Promise<MemoryFilesystem | 'damaged' | null> {
  return parseMemoryMarker(await disk.read(MARKER_AT, MEMORY_MARKER_SIZE));
}

async function changeMarker(
  disk: MemoryDisk,
  file: string,
  fsType: FsType,
  change: (present: MemoryFilesystem) => Partial<MemoryFilesystem>,
): Promise<MemoryFilesystem> {
  const present = await readMarker(disk);
  if (present === null || present === 'damaged' || present.fsType !== fsType) {
    throw failure('EINVAL', 'superblock', file, `it holds no ${fsType} of the memory host`);
  }
  const changed = { ...present, ...change(present) };
  await disk.write(MARKER_AT, encodeMemoryMarker(changed));
  return changed;
}

export function createMemoryFilesystems(deps: MemoryFilesystemsDependencies): Filesystems {
  const newUuid = () => uuidText(randomUuid(deps.randomBytes), 0);
  const grownTo = (sizeBytes: bigint) => (present: MemoryFilesystem) => ({
    sizeBytes: sizeBytes > present.sizeBytes ? wholeBlocks(sizeBytes) : present.sizeBytes,
  });

  return {
    probe(disk) {
      const file = deps.loops.byPath(disk)?.backing.path ?? disk;
      return withDisk('probe', file, 'r', probeMemoryDisk);
    },

    async format(file, fsType, { label = '' } = {}) {
      checkLabel(fsType, label);
      await withDisk(`mkfs.${fsType}`, file, 'r+', async (disk) => {
        await checkFormattable(file, fsType, disk.sizeBytes, () => probeMemoryDisk(disk));
        const sizeBytes = wholeBlocks(disk.sizeBytes);
        const made = { fsType, uuid: newUuid(), sizeBytes, blockSize: BLOCK_SIZE, label };
        await disk.write(MARKER_AT, encodeMemoryMarker(made));
      });
    },

    minimumBytes: (fsType) => MINIMUM_BYTES[fsType],

    async growMounted(mountPoint, fsType) {
      const superblock = await deps.mountedAt(mountPoint);
      const loop = superblock?.loop === undefined ? undefined : deps.loops.byIndex(superblock.loop);
      if (superblock?.fsType !== fsType || loop === undefined) {
        throw failure('EINVAL', 'growMounted', mountPoint, `no ${fsType} on a loop device is mounted there`);
      }
      if (superblock.readOnly) throw failure('EROFS', 'growMounted', mountPoint);
      const { path } = loop.backing;
      const grown = await withDisk('growMounted', path, 'r+', (disk) =>
        changeMarker(disk, path, fsType, grownTo(loop.sizeBytes)),
      );
      superblock.sizeBytes = grown.sizeBytes;
    },

    async growOffline(file, fsType) {
      if (fsType !== 'ext4') {
        throw failure('EINVAL', 'growOffline', file, `${fsType} grows only while it is mounted`);
      }
      await withDisk('growOffline', file, 'r+', (disk) =>
        changeMarker(disk, file, fsType, grownTo(disk.sizeBytes)),
      );
    },

    async renewIdentity(file, fsType) {
      if (fsType !== 'btrfs') return;
      await withDisk('renewIdentity', file, 'r+', (disk) =>
        changeMarker(disk, file, fsType, () => ({ uuid: newUuid() })),
      );
    },
  };
}

function wholeBlocks(sizeBytes: bigint): bigint {
  return sizeBytes - (sizeBytes % BigInt(BLOCK_SIZE));
}
