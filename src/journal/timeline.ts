import { notFound } from '../csi/status';
import type { Clock } from '../util/clock';
import { CallJoiner, type JournalCall } from './calls';
import { type FollowOptions, followEntries, type TimelineBatch } from './follow';
import type { Journal } from './journal';
import { ProcessFile, processesIn } from './journal-files';
import { merge, type TimelineEntry } from './merge';
import { type CallQuery, lineFilter, type Moment, matchesQuery } from './query';
import { VolumeIndex } from './volume-index';

/** The journal of the process that looks: its entries are known before they are in its file. */
export interface LiveJournal {
  /** Name of its file without `.ndjson`. */
  readonly process: string;
  readonly journal: Journal;
}

export interface TimelineOptions {
  /** `<data-dir>/journal`; undefined: nothing but what is live. */
  readonly folder: string | undefined;
  readonly clock: Clock;
  readonly live?: LiveJournal;
}

/** One call that changed, as `followCalls` gives it. */
export interface FollowedCall {
  readonly call: JournalCall;
  readonly change: 'received' | 'answered' | 'lost';
}

/** What all processes of one data folder did, in one order. */
export class Timeline {
  constructor(private readonly options: TimelineOptions) {}

  /** Everything so far that `keep` lets through by its text, streamed. */
  async *entries(keep?: (line: string) => boolean): AsyncGenerator<TimelineEntry, void, undefined> {
    yield* merge(await this.sources(keep));
  }

  /** Everything so far, and then what comes, until `signal` aborts; it ends then and does not throw. */
  follow(options: FollowOptions = {}): AsyncGenerator<TimelineBatch, void, undefined> {
    return followEntries(this.options, options);
  }

  /**
   * Calls in the order of their arrival. With a `limit` no more than those are kept in memory.
   * @throws CsiError NOT_FOUND when `since` or `until` names a mark that is not there
   */
  async calls(query: CallQuery = {}): Promise<JournalCall[]> {
    const window = await this.window(query);
    const joiner = new CallJoiner();
    const volumes = new VolumeIndex();
    const { limit = Number.POSITIVE_INFINITY } = query;
    const found = new Set<JournalCall>();
    const inWindow = new Set<JournalCall>();
    const offer = (call: JournalCall) => {
      if (inWindow.delete(call) && matchesQuery(query, call, volumes)) found.add(call);
    };
    for await (const entry of this.entries(lineFilter(query))) {
      const inside = window(entry);
      for (const { call, change } of joiner.add(entry)) {
        if (change === 'received') {
          if (inside) inWindow.add(call);
          continue;
        }
        volumes.add(call);
        offer(call);
        if (found.size > limit * 2 + 100) keepNewest(found, limit);
      }
    }
    for (const call of joiner.pending()) offer(call);
    return newest(found, limit);
  }

  /**
   * Calls as they arrive and end, from now on or, with `history`, from the start. Keys as in `calls`, without `limit`.
   * `onCurrent` is told once when all that was there has been looked at.
   */
  async *followCalls(
    query: CallQuery,
    options: FollowOptions & { history?: boolean; onCurrent?: () => void } = {},
  ): AsyncGenerator<FollowedCall, void, undefined> {
    const { history = query.since !== undefined, onCurrent, ...rest } = options;
    const window = await this.window(query);
    const joiner = new CallJoiner();
    const volumes = new VolumeIndex();
    const keep = lineFilter(query);
    let live = false;
    for await (const { entries, current } of this.follow({ keep, ...rest })) {
      for (const entry of entries) {
        const inside = window(entry);
        for (const change of joiner.add(entry)) {
          volumes.add(change.call);
          if ((live || history) && inside && matchesQuery(query, change.call, volumes)) yield change;
        }
      }
      if (current && !live) onCurrent?.();
      live ||= current;
    }
  }

  private async sources(keep?: (line: string) => boolean): Promise<AsyncIterable<TimelineEntry>[]> {
    const { folder, live } = this.options;
    const processes = folder === undefined ? [] : await processesIn(folder);
    const others = processes.filter((process) => process !== live?.process);
    const sources: AsyncIterable<TimelineEntry>[] = others.map((process) =>
      new ProcessFile(folder ?? '', process, keep).entries(),
    );
    if (live) sources.push(this.ownEntries(live, keep));
    return sources;
  }

  /** Its file, and then what is in memory and not yet there. */
  private async *ownEntries(
    { process, journal }: LiveJournal,
    keep?: (line: string) => boolean,
  ): AsyncGenerator<TimelineEntry, void, undefined> {
    const { folder } = this.options;
    let last = 0;
    if (folder !== undefined)
      for await (const entry of new ProcessFile(folder, process, keep).entries()) {
        last = entry.seq;
        yield entry;
      }
    for (const entry of journal.entries()) if (entry.seq > last) yield { ...entry, process };
  }

  /** Whether an entry lies between `since` and `until`; entries are to be asked in order. */
  private async window({ since, until }: CallQuery): Promise<(entry: TimelineEntry) => boolean> {
    const from = await this.resolve(since);
    const to = await this.resolve(until);
    let begun = from?.kind !== 'mark';
    let ended = false;
    return (entry) => {
      if (from?.kind === 'mark' && isSame(from.entry, entry)) begun = true;
      if (to?.kind === 'mark' && isSame(to.entry, entry)) ended = true;
      if (!begun || ended) return false;
      if (from?.kind === 'time' && Date.parse(entry.at) < from.ms) return false;
      if (from?.kind === 'seq' && entry.seq < from.seq) return false;
      if (to?.kind === 'time' && Date.parse(entry.at) > to.ms) return false;
      return !(to?.kind === 'seq' && entry.seq > to.seq);
    };
  }

  private async resolve(moment: Moment | undefined): Promise<ResolvedMoment | undefined> {
    if (moment?.kind !== 'mark') return moment;
    const names = new Set<string>();
    let found: TimelineEntry | undefined;
    for await (const entry of this.entries((line) => line.includes('"event":"mark"'))) {
      if (entry.type !== 'event' || entry.event !== 'mark') continue;
      const name = markName(entry.details);
      names.add(name);
      if (moment.name === undefined || moment.name === name) found = entry;
    }
    if (found) return { kind: 'mark', entry: found };
    const wanted = moment.name === undefined ? 'no mark' : `no mark "${moment.name}"`;
    const there = names.size === 0 ? 'it has none' : `there are ${[...names].join(', ')}`;
    throw notFound(`the journal has ${wanted}; ${there}`);
  }
}

type ResolvedMoment =
  | Exclude<Moment, { kind: 'mark' }>
  | { readonly kind: 'mark'; readonly entry: TimelineEntry };

const isSame = (a: TimelineEntry, b: TimelineEntry) =>
  a.process === b.process && a.seq === b.seq && a.at === b.at;

/** A `mark` event carries `{name}`. */
export function markName(details: object | null): string {
  const { name } = (details ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

function newest(found: Set<JournalCall>, limit: number): JournalCall[] {
  const sorted = [...found].sort(
    (a, b) => a.atMs - b.atMs || (a.process === b.process ? a.seq - b.seq : a.process < b.process ? -1 : 1),
  );
  return sorted.slice(Math.max(0, sorted.length - limit));
}

function keepNewest(found: Set<JournalCall>, limit: number): void {
  const keep = newest(found, limit);
  found.clear();
  for (const call of keep) found.add(call);
}
