import { randomBytes as cryptoRandomBytes } from 'node:crypto';
import { FS_TYPES, type FsType, type Host, type HostAbilities } from '../host';
import { randomUuid, uuidText } from '../probe';
import { createMemoryControl, type MemoryControl } from './control';
import { createMemoryDisks } from './disks';
import { createMemoryFilesystems } from './filesystems';
import { lockByPid } from './lock';
import { createMemoryLoops } from './loops';
import { createMemoryMounts } from './mounts';
import { SuperblockSet } from './superblock-set';
import { MountTable, placeOf } from './table';

export type { MemoryControl } from './control';

export interface MemoryHostOptions {
  /** Source of UUIDs and of the boot id (default: the kernel's). */
  randomBytes?: (size: number) => Buffer;
  /** A host made with the boot id of another one says that the machine did not restart (default: a new one). */
  bootId?: string;
}

/** The model of a machine, and what happens to a machine from outside. */
export interface MemoryHost extends Host {
  readonly kind: 'memory';
  readonly control: MemoryControl;
}

/**
 * A machine whose mount table and loop devices are a model: it asks no privilege and nothing of the kernel but
 * ordinary files. What a backend writes through `disks` and `format` is really in those files, so that clones and
 * snapshots copy it; what is mounted is told by `mounts` alone.
 */
export function createMemoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const randomBytes = options.randomBytes ?? cryptoRandomBytes;
  const bootId = options.bootId ?? uuidText(randomUuid(randomBytes), 0);
  const table = new MountTable();
  const loops = createMemoryLoops();
  const superblocks = new SuperblockSet(loops);
  const locked = new Set<string>();
  return {
    kind: 'memory',
    mounts: createMemoryMounts({ table, loops, superblocks }),
    loops: loops.devices,
    filesystems: createMemoryFilesystems({
      loops,
      randomBytes,
      async mountedAt(mountPoint) {
        const place = await placeOf(mountPoint);
        return place === null ? undefined : table.at(place)?.superblock;
      },
    }),
    disks: createMemoryDisks(),
    control: createMemoryControl(table),
    lockFile: (file) => lockByPid(file, locked),
    bootId: async () => bootId,
    abilities: async () => everything(),
  };
}

function everything(): HostAbilities {
  const filesystems = Object.fromEntries(FS_TYPES.map((fsType) => [fsType, true])) as Record<FsType, true>;
  return { mount: true, loop: true, growMountedExt4: true, filesystems };
}
