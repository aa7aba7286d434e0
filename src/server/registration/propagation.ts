import type { MountEntry } from '../../host/host';

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
    const mount = holderOf(folder, mounts);
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

/** The mount that a path lies in: the one with the longest name, and of several on one place the one on top. */
function holderOf(file: string, mounts: readonly MountEntry[]): MountEntry | undefined {
  let holder: MountEntry | undefined;
  for (const mount of mounts) {
    const { mountPoint } = mount;
    const holds = mountPoint === '/' || file === mountPoint || file.startsWith(`${mountPoint}/`);
    if (holds && (holder === undefined || mountPoint.length >= holder.mountPoint.length)) holder = mount;
  }
  return holder;
}
