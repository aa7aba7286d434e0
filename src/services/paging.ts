import { createHash } from 'node:crypto';
import { aborted } from '../csi/status';
import { keyOf } from '../util/keys';

interface Sequenced {
  id: string;
  sequence: number;
}

/** The last entry of a page: its number, and the key of its id. */
interface Place {
  sequence: number;
  key: string;
}

/**
 * One page of a listing. A token names the entry after which the next page begins, so deletions and new entries between two
 * pages neither repeat nor hide an entry that was there all along. Two processes may have given one number, so it is not
 * enough to name that.
 * @param items in ascending sequence, those of one number by the keys of their ids.
 * @throws CsiError ABORTED for a token that no listing of this kind gave out.
 */
export function page<T extends Sequenced>(
  kind: 'volumes' | 'snapshots',
  items: Iterable<T>,
  maxEntries: number,
  startingToken: string,
): { entries: T[]; nextToken: string } {
  const after = startingToken === '' ? undefined : readToken(kind, startingToken);
  const entries: T[] = [];
  for (const item of items) {
    if (after && !isBehind(item, after)) continue;
    if (maxEntries > 0 && entries.length === maxEntries) {
      const last = entries.at(-1);
      return { entries, nextToken: last ? makeToken(kind, last.sequence, keyOf(last.id)) : startingToken };
    }
    entries.push(item);
  }
  return { entries, nextToken: '' };
}

function isBehind(item: Sequenced, { sequence, key }: Place): boolean {
  return item.sequence === sequence ? keyOf(item.id) > key : item.sequence > sequence;
}

function makeToken(kind: string, sequence: number, key: string): string {
  return `${sequence}-${key}-${checksum(kind, sequence, key)}`;
}

function readToken(kind: string, token: string): Place {
  const [, number, key = ''] = /^(\d{1,15})-([0-9a-f]+)-/.exec(token) ?? [];
  const sequence = Number(number ?? Number.NaN);
  if (!Number.isSafeInteger(sequence) || token !== makeToken(kind, sequence, key))
    throw aborted(
      `starting_token: expected a next_token that listing ${kind} gave, found ${JSON.stringify(token)}; begin again without one`,
    );
  return { sequence, key };
}

/** No secret: it tells a made-up or foreign token from one of ours. */
function checksum(kind: string, sequence: number, key: string): string {
  return createHash('sha256').update(`${kind} ${sequence} ${key}`).digest('hex').slice(0, 8);
}
