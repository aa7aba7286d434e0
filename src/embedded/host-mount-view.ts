import * as path from 'node:path';
import type { Mounts } from '../host/host';
import type { MountView } from '../kubelet/csi/mount-view';

/** What a kubelet asks the mount table of a host. */
export function hostMountView(mountsOf: () => Mounts): MountView {
  return {
    isMountPoint: async (place) => (await mountsOf().look(place)).mount !== null,
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
