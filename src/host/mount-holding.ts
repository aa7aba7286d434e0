import type { MountEntry } from './host';

/**
 * The mount that a path lies in: the one with the longest name, and of several on one place the one on top.
 * @param mounts in the order of /proc/self/mountinfo. @param file without symbolic links.
 */
export function mountHolding(mounts: readonly MountEntry[], file: string): MountEntry | undefined {
  let holder: MountEntry | undefined;
  for (const mount of mounts) {
    const { mountPoint } = mount;
    const holds = mountPoint === '/' || file === mountPoint || file.startsWith(`${mountPoint}/`);
    if (holds && (holder === undefined || mountPoint.length >= holder.mountPoint.length)) holder = mount;
  }
  return holder;
}
