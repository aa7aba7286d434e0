import { createHash } from 'node:crypto';
import { aborted } from '../csi/status';

interface Sequenced {
  sequence: number;
}

/**
 * One page of a listing. A token names the sequence number after which the next page begins, so deletions and new
 * entries between two pages neither repeat nor hide an entry that was there all along.
 * @param items in ascending sequence.
 * @throws CsiError ABORTED for a token that no listing of this kind gave out.
 */
export function page<T extends Sequenced>(
  kind: 'volumes' | 'snapshots',
  items: Iterable<T>,
  maxEntries: number,
  startingToken: string,
): { entries: T[]; nextToken: string } {
  const after = startingToken === '' ? 0 : readToken(kind, startingToken);
  const entries: T[] = [];
  for (const item of items) {
    if (item.sequence <= after) continue;
    if (maxEntries > 0 && entries.length === maxEntries) {
      const last = entries.at(-1)?.sequence ?? after;
      return { entries, nextToken: makeToken(kind, last) };
    }
    entries.push(item);
  }
  return { entries, nextToken: '' };
}

function makeToken(kind: string, sequence: number): string {
  return `${sequence}-${checksum(kind, sequence)}`;
}

function readToken(kind: string, token: string): number {
  const sequence = Number(/^(\d{1,15})-/.exec(token)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(sequence) || token !== makeToken(kind, sequence))
    throw aborted(
      `starting_token: expected a next_token that listing ${kind} gave, found ${JSON.stringify(token)}; begin again without one`,
    );
  return sequence;
}

/** No secret: it tells a made-up or foreign token from one of ours. */
function checksum(kind: string, sequence: number): string {
  return createHash('sha256').update(`${kind} ${sequence}`).digest('hex').slice(0, 8);
}
