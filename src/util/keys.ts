import { createHash, hash } from 'node:crypto';

/** Name of an id on disk: a hash, so that no id, however hostile, can name a path (`../x`, 128 bytes of emoji). */
export function keyOf(id: string): string {
  return hash('sha256', id).slice(0, 32);
}

/**
 * The id that a name gets. It follows from the name alone, so that a retried create finds what a lost answer made,
 * whatever happened to the process in between.
 */
export function idFor(prefix: string, ...names: string[]): string {
  const sum = createHash('sha256');
  for (const name of names) sum.update(`${Buffer.byteLength(name)}:`).update(name);
  return `${prefix}-${sum.digest('hex').slice(0, 24)}`;
}
