/** What the kubelet asks the node's mount table. */
export interface MountView {
  /**
   * Whether the path is the root of a mount (IsLikelyNotMountPoint). A path that is not there is none.
   * @throws Error of a dead mount, with `errno` or `code`: ENOTCONN, ESTALE, EIO, …
   */
  isMountPoint(path: string): Promise<boolean>;
  /** Other places where the filesystem that is mounted at the path is mounted with the same root (GetMountRefs). */
  references(path: string): Promise<string[]>;
}

/** A mount that answers every look at it with one of these has no references (mount.IsCorruptedMnt). */
const CORRUPTED = new Set(['ENOTCONN', 'ESTALE', 'EIO', 'EACCES', 'EHOSTDOWN', 'ENODEV']);

export function isCorruptedMount(error: unknown): boolean {
  const { errno, code } = error as { errno?: unknown; code?: unknown };
  return CORRUPTED.has(String(errno)) || CORRUPTED.has(String(code));
}
