import type { MountEntry } from '../../host/host';
import { mountHolding } from '../../host/mount-holding';

/** Where a kubelet has volumes mounted: pods' targets, and the places where they are staged. */
const PLACES = ['pods', 'plugins/kubernetes.io/csi'];

/**
 * Whether mounts that are made here, below the kubelet's folder, come to the kubelet.
 * @param kubeletDir without symbolic links. @param mounts of this process, in the order of /proc/self/mountinfo.
 * @returns true, or one line that says what is wrong and how to mend it.
 */
export function mountsReachKubelet(kubeletDir: string, mounts: readonly MountEntry[]): true | string {
  for (const place of PLACES) {
    const folder = `${kubeletDir}/${place}`;
    const mount = mountHolding(mounts, folder);
    if (mount === undefined || mount.propagation.some((field) => field.startsWith('shared:'))) continue;
    const how = mount.propagation.some((field) => field.startsWith('master:'))
      ? 'only receives mounts (HostToContainer)'
      : 'is private';
    return (
      `mounts made in ${folder} are not seen by the kubelet: the mount at ${mount.mountPoint} ${how}; pods would find empty folders. ` +
      `In a container, give the volumeMount of ${kubeletDir} mountPropagation: Bidirectional (and privileged: true); on the host, mount --make-rshared ${mount.mountPoint}`
    );
  }
  return true;
}
