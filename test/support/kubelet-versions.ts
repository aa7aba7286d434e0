/** apimachinery's HighestSupportedVersion: what is no version or of a major above 1 does not count. */
export function highest(versions: readonly string[]): number[] | undefined {
  return versions
    .filter((text) => /^v?\d+(\.\d+)*$/.test(text))
    .map((text) => text.replace(/^v/, '').split('.').map(Number))
    .filter(([major = 0]) => major <= 1)
    .sort(compare)
    .at(-1);
}

export function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
