const SUFFIXES: Record<string, bigint> = {
  '': 1n,
  k: 1000n,
  M: 1000n ** 2n,
  G: 1000n ** 3n,
  T: 1000n ** 4n,
  P: 1000n ** 5n,
  E: 1000n ** 6n,
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
  Pi: 1024n ** 5n,
  Ei: 1024n ** 6n,
};

export const KIB = 1024n;
export const MIB = KIB * 1024n;
export const GIB = MIB * 1024n;

/**
 * Bytes from a Kubernetes quantity: `1073741824`, `1Gi`, `1.5G`, `500M`. Rounded up to a whole byte.
 * @returns undefined when `text` is no quantity, is negative, or does not fit an int64.
 */
export function parseQuantity(text: string): bigint | undefined {
  const match = /^(\d{1,19})(?:\.(\d{1,9}))?([kMGTPE]i?|Ki)?$/.exec(text.trim());
  if (!match) return undefined;
  const [, whole = '', fraction = '', suffix = ''] = match;
  const unit = SUFFIXES[suffix];
  if (unit === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * unit;
  const bytes = (scaled + scale - 1n) / scale;
  return bytes < 2n ** 63n ? bytes : undefined;
}

/** `5368709120` → `5Gi`; sizes that are no whole number of a binary unit stay in bytes. */
export function formatQuantity(bytes: bigint): string {
  for (const suffix of ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki']) {
    const unit = SUFFIXES[suffix] as bigint;
    if (bytes >= unit && bytes % unit === 0n) return `${bytes / unit}${suffix}`;
  }
  return `${bytes}`;
}
