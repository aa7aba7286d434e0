import type { JournalEntry } from './entry';

/** An entry and whose it is: the name of the journal file without `.ndjson`. */
export type TimelineEntry = JournalEntry & { readonly process: string };

/** Wall time first; equal times by number, then by process, so that every reader sees one order. */
function compare(a: TimelineEntry, b: TimelineEntry): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  if (a.seq !== b.seq) return a.seq - b.seq;
  return a.process < b.process ? -1 : a.process > b.process ? 1 : 0;
}

/**
 * One sequence of several, each of one process. The order within a process is kept whatever its clock did: only the
 * first of what is left of each is compared.
 */
export async function* merge(
  sources: readonly AsyncIterable<TimelineEntry>[],
): AsyncGenerator<TimelineEntry, void, undefined> {
  const readers = sources.map((source) => source[Symbol.asyncIterator]());
  try {
    const heads: { reader: AsyncIterator<TimelineEntry>; entry: TimelineEntry }[] = [];
    for (const reader of readers) {
      const { value, done } = await reader.next();
      if (!done) heads.push({ reader, entry: value });
    }
    for (;;) {
      let first = heads[0];
      if (!first) return;
      // Processes are few: a walk over their heads beats a heap.
      for (const head of heads) if (compare(head.entry, first.entry) < 0) first = head;
      yield first.entry;
      const { value, done } = await first.reader.next();
      if (done) heads.splice(heads.indexOf(first), 1);
      else first.entry = value;
    }
  } finally {
    for (const reader of readers) await reader.return?.();
  }
}

/** The same for what is all there already. */
export function mergeAll(sources: readonly (readonly TimelineEntry[])[]): TimelineEntry[] {
  const next = sources.map(() => 0);
  const merged: TimelineEntry[] = [];
  for (;;) {
    let best: TimelineEntry | undefined;
    let from = -1;
    for (const [i, source] of sources.entries()) {
      const entry = source[next[i] ?? 0];
      if (entry && (!best || compare(entry, best) < 0)) {
        best = entry;
        from = i;
      }
    }
    if (!best) return merged;
    merged.push(best);
    next[from] = (next[from] ?? 0) + 1;
  }
}
