import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../util/clock';
import { errnoOf } from '../util/files';
import type { Journal } from './journal';
import { ProcessFile, processesIn } from './journal-files';
import { mergeAll, type TimelineEntry } from './merge';

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Drops lines by their text, before they are parsed. */
  readonly keep?: (line: string) => boolean;
  /** How often to look where the kernel does not tell of changes (network folders); never below 250. */
  readonly pollMs?: number;
}

/** Entries that came together, in one order. Across batches only the order within a process is sure. */
export interface TimelineBatch {
  readonly entries: readonly TimelineEntry[];
  /** All that was there has been given. */
  readonly current: boolean;
}

interface Where {
  readonly folder: string | undefined;
  readonly clock: Clock;
  readonly live?: { readonly process: string; readonly journal: Journal };
}

const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 250;

/** See Timeline.follow. The first batch that is `current` comes also when there is nothing yet. */
export async function* followEntries(
  where: Where,
  { signal, keep, pollMs = DEFAULT_POLL_MS }: FollowOptions,
): AsyncGenerator<TimelineBatch, void, undefined> {
  const { folder, clock, live } = where;
  const period = Math.max(MIN_POLL_MS, pollMs);
  const wake = new Wake();
  const own = live && new OwnEntries(live, () => wake.now('memory'));
  const files = new Map<string, ProcessFile>();
  let watcher: FSWatcher | undefined;
  let first = true;
  try {
    for (let reason: Reason = 'files'; !signal?.aborted; reason = await wake.wait(clock, period, signal)) {
      if (reason === 'memory') {
        yield { entries: own?.take() ?? [], current: true };
        continue;
      }
      if (folder !== undefined) {
        // Watched before it is read: a change in between wakes us at once.
        watcher ??= watchFolder(folder, (name) => {
          if (first || name !== `${live?.process}.ndjson`) wake.now('files');
        });
        for (const process of await processesIn(folder))
          if (!files.has(process) && (first || process !== live?.process))
            files.set(process, new ProcessFile(folder, process, keep));
      }
      for await (const batch of readAll(files, own)) {
        if (batch.entries.length > 0 || (batch.current && first)) yield batch;
        if (signal?.aborted) return;
      }
      if (first && live) {
        // From here on memory is ahead of the file.
        await files.get(live.process)?.close();
        files.delete(live.process);
      }
      first = false;
    }
  } finally {
    watcher?.close();
    own?.stop();
    for (const file of files.values()) await file.close();
  }
}

/** Rounds of a chunk from each process until none has more. */
async function* readAll(
  files: ReadonlyMap<string, ProcessFile>,
  own: OwnEntries | undefined,
): AsyncGenerator<TimelineBatch, void, undefined> {
  const waiting = new Map<string, TimelineEntry[]>();
  const exhausted = new Set<string>();
  for (;;) {
    for (const [process, file] of files) {
      if (exhausted.has(process) || (waiting.get(process)?.length ?? 0) > 0) continue;
      const some = await file.next();
      if (!some) exhausted.add(process);
      else waiting.set(process, own?.process === process ? own.fromFile(some) : some);
    }
    const done = [...files.keys()].every((process) => exhausted.has(process));
    // What is in memory comes after all that is in the file.
    if (own && (done || exhausted.has(own.process)) && !waiting.get(own.process)?.length)
      waiting.set(own.process, own.take());
    if (done) {
      yield { entries: mergeAll([...waiting.values()]), current: true };
      return;
    }
    // Nothing later than the end of a chunk whose process may have more: its next entry may come before.
    yield { entries: releasable(waiting, exhausted), current: false };
  }
}

function releasable(
  waiting: Map<string, TimelineEntry[]>,
  exhausted: ReadonlySet<string>,
): readonly TimelineEntry[] {
  let limit: string | undefined;
  let limiting: string | undefined;
  for (const [process, entries] of waiting) {
    const last = entries.at(-1);
    if (!last || exhausted.has(process)) continue;
    if (limit !== undefined && last.at >= limit) continue;
    limit = last.at;
    limiting = process;
  }
  const out: TimelineEntry[][] = [];
  for (const [process, entries] of waiting) {
    // Whole for the one that limits: were its clock set back in between, nothing would ever be let go.
    const all = limit === undefined || process === limiting;
    const later = all ? -1 : entries.findIndex(({ at }) => at > (limit ?? ''));
    const split = later === -1 ? entries.length : later;
    out.push(entries.slice(0, split));
    waiting.set(process, entries.slice(split));
  }
  return mergeAll(out);
}

/** Entries of the process that looks, from its file first and from memory as soon as that has caught up. */
class OwnEntries {
  readonly process: string;
  private last = 0;
  private pending: TimelineEntry[] = [];
  private begun = false;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly live: { process: string; journal: Journal },
    woken: () => void,
  ) {
    this.process = live.process;
    this.unsubscribe = live.journal.subscribe((entry) => {
      // Listeners get the object that others keep: it is copied.
      this.pending.push({ ...entry, process: live.process });
      woken();
    });
  }

  fromFile(entries: TimelineEntry[]): TimelineEntry[] {
    const fresh = entries.filter(({ seq }) => seq > this.last);
    this.last = fresh.at(-1)?.seq ?? this.last;
    return fresh;
  }

  take(): TimelineEntry[] {
    if (!this.begun) {
      this.begun = true;
      const { process, journal } = this.live;
      this.pending = journal.entries().map((entry) => ({ ...entry, process }));
    }
    const some = this.fromFile(this.pending);
    this.pending = [];
    return some;
  }

  stop(): void {
    this.unsubscribe();
  }
}

/** Why a loop goes round: only memory has news, or files may have. */
type Reason = 'memory' | 'files';

/** Lets a loop sleep until somebody has something, without losing what comes while it is busy. */
class Wake {
  private raised: Reason | undefined;
  private ring: (() => void) | undefined;

  now(reason: Reason): void {
    if (this.raised !== 'files') this.raised = reason;
    this.ring?.();
  }

  async wait(clock: Clock, atMostMs: number, signal?: AbortSignal): Promise<Reason> {
    if (!this.raised && !signal?.aborted) {
      const enough = new AbortController();
      const end = () => enough.abort();
      // Not AbortSignal.any: it keeps what it made for as long as the signal lives, and this loop may live for days.
      signal?.addEventListener('abort', end);
      const rung = new Promise<void>((resolve) => {
        this.ring = resolve;
      });
      await Promise.race([rung, clock.sleep(atMostMs, enough.signal).catch(() => undefined)]);
      signal?.removeEventListener('abort', end);
      enough.abort();
      this.ring = undefined;
    }
    const reason = this.raised ?? 'files';
    this.raised = undefined;
    return reason;
  }
}

/** @returns undefined when the folder is not there yet, or the kernel has no watch left: then polling has to do. */
function watchFolder(folder: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => changed(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch (error) {
    if (['ENOENT', 'ENOSPC', 'EMFILE'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
