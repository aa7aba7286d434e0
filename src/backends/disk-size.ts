/** The kernel counts a loop device in sectors; ext4 and xfs want whole blocks. */
export const DISK_GRANULE = 4096n;

/** The file's size for a capacity: whole blocks, never less than was promised. */
export function diskSize(capacity: bigint): bigint {
  return ((capacity + DISK_GRANULE - 1n) / DISK_GRANULE) * DISK_GRANULE;
}
