import { accessSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Mounts } from '../host/host';
import type { MountView } from '../kubelet/csi/mount-view';

/** What a kubelet asks the mount table of a host, and the few mounts it makes there. `isModel`: files in a volume are none on the disk. */
export function hostMountView(mountsOf: () => Mounts, isModel: boolean): MountView {
  return {
    isMountPoint: async (place) => (await mountsOf().look(place)).mount !== null,
    bind: (source, target) => mountsOf().bind({ source, target, readOnly: false, options: [] }),
    unmount: (target) => mountsOf().unmount(target),
    folderIn: (volume, subPath) => (isModel ? existing(volume) : folderIn(volume, subPath)),
    references: async (place) => {
      const entries = await mountsOf().list();
      const own = entries.findLast(({ mountPoint }) => mountPoint === path.resolve(place));
      if (!own) return [];
      return entries
        .filter(
          ({ mountPoint, root, device }) =>
            mountPoint !== own.mountPoint &&
            root === own.root &&
            device.major === own.device.major &&
            device.minor === own.device.minor,
        )
        .map(({ mountPoint }) => mountPoint);
    },
  };
}

/** In a model a volume has no files of its own: its root stands for what is in it. On the spot: virtual time waits for no disk. */
async function existing(volume: string): Promise<string> {
  accessSync(volume);
  return volume;
}

/** Folder by folder, so that nothing is made behind a link that leads elsewhere. @throws Error */
async function folderIn(volume: string, subPath: string): Promise<string> {
  const root = await fs.realpath(volume);
  let place = root;
  for (const name of subPath.split('/').filter((part) => part !== '' && part !== '.')) {
    place = path.join(place, name);
    const next = await fs.realpath(place).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      await fs.mkdir(place, { mode: 0o750 });
      return place;
    });
    if (next !== root && !next.startsWith(`${root}/`))
      throw new Error(`subpath "${next}" not within volume path "${root}"`);
    place = next;
  }
  return place;
}
