import type { CountTest } from '../model';

/**
 * What of a number that only grows is known of a test: whether it holds now, and whether that can still change. Tests
 * change only at the numbers that are written in them, so that a look around each of those is enough.
 */
export function standing(test: CountTest, count: number): { holds: boolean; forGood: boolean } {
  const holds = test.test(count);
  const written = (test.source.match(/\d+/g) ?? []).map(Number);
  const later = [...written.flatMap((n) => [n - 1, n, n + 1]), count + 1, Number.MAX_SAFE_INTEGER];
  const forGood = later.every((n) => n <= count || test.test(n) === holds);
  return { holds, forGood };
}
