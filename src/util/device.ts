/** Splits a st_dev as Node reports it (glibc's makedev) into the kernel's numbers. */
export function splitDevice(dev: bigint): { major: number; minor: number } {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return { major: Number(major), minor: Number(minor) };
}

export function sameDevice(
  a: { major: number; minor: number },
  b: { major: number; minor: number },
): boolean {
  return a.major === b.major && a.minor === b.minor;
}
