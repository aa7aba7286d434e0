import { createHash } from 'node:crypto';

/**
 * A number in [0, 1) that is a function of the seed and of the names and ordinals given, and of nothing else: calls may
 * interleave as they like, and the same call of the same volume draws the same number.
 */
export function draw(seed: number, ...of: (string | number)[]): number {
  const hash = createHash('sha256').update(`${seed}`);
  for (const part of of) hash.update(`|${typeof part}${Buffer.byteLength(String(part))}:${part}`);
  // 48 bits: exact in a double.
  return hash.digest().readUIntBE(0, 6) / 2 ** 48;
}

/** A standard normal variate from two draws (Box and Muller). */
export function normal(first: number, second: number): number {
  return Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second);
}
