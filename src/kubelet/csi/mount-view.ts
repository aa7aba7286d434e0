/** What the kubelet asks the node's mount table. */
export interface MountView {
  /**
   * Whether the path is the root of a mount (IsLikelyNotMountPoint). A path that is not there is none.
   * @throws Error of a dead mount, with `errno` or `code`: ENOTCONN, ESTALE, EIO, …
   */
  isMountPoint(path: string): Promise<boolean>;
  /** Other places where the filesystem that is mounted at the path is mounted with the same root (GetMountRefs). */
  references(path: string): Promise<string[]>;
  /**
   * A folder in a mounted volume, made where it is not there; links in it lead to nowhere else.
   * @returns what to bind. @throws Error
   */
  folderIn(volume: string, subPath: string): Promise<string>;
  /** The kubelet's own binds: of raw block devices, and of subPaths. Both places are there, and of one kind. @throws Error */
  bind(source: string, target: string): Promise<void>;
  /** Takes such a bind away. @throws Error */
  unmount(target: string): Promise<void>;
}

/** A mount that answers every look at it with one of these has no references (mount.IsCorruptedMnt). */
const CORRUPTED = new Set(['ENOTCONN', 'ESTALE', 'EIO', 'EACCES', 'EHOSTDOWN', 'ENODEV']);

export function isCorruptedMount(error: unknown): boolean {
  const { errno, code } = error as { errno?: unknown; code?: unknown };
  return CORRUPTED.has(String(errno)) || CORRUPTED.has(String(code));
}
