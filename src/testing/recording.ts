import { type CallChange, CallJoiner, type JournalCall } from '../journal/calls';
import type { Journal } from '../journal/journal';
import type { TimelineEntry } from '../journal/merge';
import { VolumeIndex } from '../journal/volume-index';

/** A moment of a test: what came before it does not count. */
export interface Mark {
  readonly name: string;
  /** Number of the mark's own entry in the journal. */
  readonly seq: number;
}

/**
 * All that the lives of one driver have written into their journals since the test began, as entries and as calls. In
 * memory, so that a test need not wait to ask.
 */
export class Recording {
  readonly volumes = new VolumeIndex();
  private readonly list: JournalCall[] = [];
  private readonly all: TimelineEntry[] = [];
  private readonly joiner = new CallJoiner();
  private readonly listeners = new Set<(entry: TimelineEntry, changes: readonly CallChange[]) => void>();

  /** Takes what the journal has of this life and what comes. @returns the function that ends it. */
  attach(process: string, journal: Journal): () => void {
    for (const entry of journal.entries()) if (entry.seq > this.lastSeq) this.add({ ...entry, process });
    return journal.subscribe((entry) => this.add({ ...entry, process }));
  }

  private add(entry: TimelineEntry): void {
    this.all.push(entry);
    const changes = this.joiner.add(entry);
    for (const { call, change } of changes) {
      if (change === 'received') this.list.push(call);
      if (change === 'answered') this.volumes.add(call);
    }
    for (const listener of this.listeners) listener(entry, changes);
  }

  /** Of the newest entry; 0 before the first. */
  get lastSeq(): number {
    return this.all.at(-1)?.seq ?? 0;
  }

  /** In the order of arrival. They change until they are answered. */
  calls(): readonly JournalCall[] {
    return this.list;
  }

  /** @returns the function that ends the subscription. */
  subscribe(listener: (entry: TimelineEntry, changes: readonly CallChange[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Everything so far, and then what comes until `signal` aborts, as a verdict wants it. */
  async *follow({ signal }: { signal: AbortSignal }): AsyncGenerator<{
    entries: readonly TimelineEntry[];
    current: boolean;
  }> {
    let next = 0;
    let wake: () => void = () => undefined;
    const unsubscribe = this.subscribe(() => wake());
    const end = () => wake();
    signal.addEventListener('abort', end);
    try {
      while (!signal.aborted) {
        const entries = this.all.slice(next);
        next += entries.length;
        const more = new Promise<void>((resolve) => {
          wake = resolve;
        });
        yield { entries, current: true };
        if (next === this.all.length && !signal.aborted) await more;
      }
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', end);
    }
  }
}
