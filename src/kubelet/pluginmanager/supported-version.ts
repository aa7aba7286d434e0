/** A version as k8s.io/apimachinery/pkg/util/version reads a generic one: its numbers. */
export type Version = readonly number[];

const VERSION = /^\s*v?([0-9]+(?:\.[0-9]+)*)/;

/** @throws Error in the words of that package */
function parse(text: string): Version {
  const numbers = VERSION.exec(text)?.[1]?.split('.');
  if (!numbers) throw new Error(`could not parse ${JSON.stringify(text)} as version`);
  if (numbers.length < 2) throw new Error(`illegal version string ${JSON.stringify(text)}`);
  const [major = ''] = numbers;
  if (major.startsWith('0') && major !== '0')
    throw new Error(`illegal zero-prefixed version component "${major}" in ${JSON.stringify(text)}`);
  return numbers.map(Number);
}

/**
 * The highest of those whose major number is at most 1; what cannot be read is passed over.
 * @throws Error where none is left, or the highest is one of 0
 */
export function highestSupportedVersion(versions: readonly string[]): Version {
  let highest: Version | undefined;
  let unreadable: string | undefined;
  for (const text of [...versions].reverse()) {
    try {
      const version = parse(text);
      if ((version[0] ?? 0) > 1) continue;
      if (!highest || isLess(highest, version)) highest = version;
    } catch (error) {
      unreadable = (error as Error).message;
    }
  }
  if (!highest)
    throw new Error(
      `could not find a highest supported version from versions ([${versions.join(' ')}]) reported: ${unreadable ?? '<nil>'}`,
    );
  if (highest[0] !== 1)
    throw new Error(`highest supported version reported is ${highest.join('.')}, must be v1.x`);
  return highest;
}

/** Numbers that are not there count as 0. */
export function isLess(one: Version, other: Version): boolean {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
