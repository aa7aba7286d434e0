import type { Clock } from '../util/clock';
import type { JournalEntry, NewEntry } from './entry';
import type { LastNumbers } from './last-numbers';

export interface JournalOptions {
  clock: Clock;
  /** Entries kept in memory; older ones are in the file only. */
  memory?: number;
  /** Takes each entry as one line of JSON, without the newline. */
  sink?: {
    write(line: string): void;
    /** Where numbering was left by the process that wrote there before: it goes on from there. */
    readonly last?: LastNumbers;
  };
}

const DEFAULT_MEMORY = 10_000;

/** Everything that happened, in order: in memory for whoever asks now, and as lines for whoever asks later. */
export class Journal {
  /** As lines: a tenth of the memory of the objects, and most are never looked at. */
  private readonly ring: string[] = [];
  private readonly listeners = new Set<(entry: JournalEntry) => void>();
  private seq: number;
  private latestCall: number;
  private oldest = 0;

  constructor(private readonly options: JournalOptions) {
    const { seq = 0, call = 0 } = options.sink?.last ?? {};
    this.seq = seq;
    this.latestCall = call;
  }

  /** The highest number that a call has had here, earlier runs of this process included; 0 before the first. */
  get lastCall(): number {
    return this.latestCall;
  }

  append(entry: NewEntry): JournalEntry {
    const { clock, sink, memory = DEFAULT_MEMORY } = this.options;
    this.seq += 1;
    if (entry.type === 'received' && entry.call > this.latestCall) this.latestCall = entry.call;
    const full = {
      seq: this.seq,
      at: new Date(clock.now()).toISOString(),
      mono: Math.round(clock.monotonic() * 1000) / 1000,
      ...entry,
    } as JournalEntry;
    const line = JSON.stringify(full);
    // A ring: the slot of the oldest entry takes the newest, so that keeping the length costs nothing.
    if (this.ring.length < memory) this.ring.push(line);
    else {
      this.ring[this.oldest] = line;
      this.oldest = (this.oldest + 1) % memory;
    }
    sink?.write(line);
    for (const listener of this.listeners) listener(full);
    return full;
  }

  /** From the oldest kept to the newest. */
  entries(): JournalEntry[] {
    const lines = [...this.ring.slice(this.oldest), ...this.ring.slice(0, this.oldest)];
    return lines.map((line) => JSON.parse(line) as JournalEntry);
  }

  /** @returns the function that ends the subscription. */
  subscribe(listener: (entry: JournalEntry) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The first entry, kept or to come, that `matches`. Rejects with the signal's reason when it aborts first. */
  waitFor(matches: (entry: JournalEntry) => boolean, signal?: AbortSignal): Promise<JournalEntry> {
    const found = this.entries().find(matches);
    if (found) return Promise.resolve(found);
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = this.subscribe((entry) => {
        if (!matches(entry)) return;
        stop();
        resolve(entry);
      });
      signal?.addEventListener(
        'abort',
        () => {
          stop();
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }
}
