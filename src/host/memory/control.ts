import { usageOf } from './superblocks';
import { failure, followedPlaceOf, type Mount, type MountTable } from './table';

/** What happens to a machine from outside: pods that use a mount, servers that die, data that is written. */
export interface MemoryControl {
  /** Somebody has a file open on the mount that `path` is on: unmounting it is EBUSY until the answer is called. */
  hold(path: string): Promise<() => void>;
  /** The mount at `path` answers everything with this errno (`ENOTCONN`, `ESTALE`, `EIO`, …). It can be unmounted. */
  kill(path: string, errno: string): Promise<void>;
  /**
   * The filesystem mounted at `path` holds this much.
   * @throws HostError ENOSPC when it has no room for it.
   */
  fill(path: string, data: { bytes?: bigint; inodes?: bigint }): Promise<void>;
}

export function createMemoryControl(table: MountTable): MemoryControl {
  async function covering(path: string, operation: string): Promise<Mount> {
    const mount = table.covering(await followedPlaceOf(path, operation));
    if (mount === undefined) throw failure('EINVAL', operation, path, 'nothing is mounted there');
    return mount;
  }

  return {
    async hold(path) {
      return table.hold(await covering(path, 'hold'));
    },

    async kill(path, errno) {
      (await covering(path, 'kill')).dead = errno;
    },

    async fill(path, { bytes = 0n, inodes = 0n }) {
      const { superblock } = await covering(path, 'fill');
      if (superblock === undefined)
        throw failure('EINVAL', 'fill', path, 'the machine itself is mounted there');
      const { bytes: space, inodes: files } = usageOf({ ...superblock, data: { bytes: 0n, inodes: 0n } });
      if (bytes > space.available || (files.total > 0n && inodes > files.available)) {
        throw failure('ENOSPC', 'fill', path);
      }
      superblock.data = { bytes, inodes };
    },
  };
}
