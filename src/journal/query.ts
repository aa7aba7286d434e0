import { invalidArgument } from '../csi/status';
import type { JournalCall } from './calls';
import { matchesGlob } from './glob';
import type { VolumeIndex } from './volume-index';

/** Where a look at the journal begins or ends. */
export type Moment =
  /** Milliseconds since the epoch. */
  | { readonly kind: 'time'; readonly ms: number }
  /** From that entry on, in each process. */
  | { readonly kind: 'seq'; readonly seq: number }
  /** After the last mark of that name; undefined: of any. */
  | { readonly kind: 'mark'; readonly name: string | undefined };

/** Which calls; all of the keys have to hold. */
export interface CallQuery {
  /** Globs of method names; one of them has to match. */
  readonly rpc?: readonly string[];
  /** A glob of volume ids. */
  readonly volume?: string;
  /** Globs: `data-*`, or `db/data-*` with the namespace. */
  readonly pvc?: string;
  readonly since?: Moment;
  readonly until?: Moment;
  /** Globs of codes, OK among them. A call that runs has none. */
  readonly code?: readonly string[];
  /** A glob of `scenario/rule` or of `rule`. */
  readonly fired?: string;
  /** The newest so many. */
  readonly limit?: number;
}

/**
 * `10m` (back from now), an ISO 8601 time, `#120` or `120` (sequence number), `mark` (the last one), `mark:NAME`, or the
 * plain name of a mark.
 * @throws CsiError INVALID_ARGUMENT
 */
export function parseMoment(text: string, nowMs: number): Moment {
  const trimmed = text.trim();
  if (trimmed === 'mark') return { kind: 'mark', name: undefined };
  if (trimmed.startsWith('mark:')) return { kind: 'mark', name: trimmed.slice('mark:'.length) };
  if (/^#?\d+$/.test(trimmed)) return { kind: 'seq', seq: Number(trimmed.replace('#', '')) };
  const back = durationMs(trimmed.replace(/\s+ago$/, ''));
  // Before the first moment that can be written as a time, there was no call either.
  if (back !== undefined) return { kind: 'time', ms: Math.max(0, nowMs - back) };
  if (/^\d{4}-\d{2}-\d{2}/.test(trimmed)) {
    const ms = Date.parse(trimmed);
    if (!Number.isNaN(ms)) return { kind: 'time', ms };
    throw invalidArgument(`since: expected a time such as 2026-01-31T12:00:00Z, found "${text}"`);
  }
  if (trimmed === '')
    throw invalidArgument('since: expected 10m, a time, #120 or the name of a mark, found nothing');
  return { kind: 'mark', name: trimmed };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    total += Number(number) * (UNITS[unit ?? ''] ?? 0);
  return total;
}

/** All keys but `since`, `until` and `limit`, which are not about one call. */
export function matchesQuery(query: CallQuery, call: JournalCall, volumes: VolumeIndex): boolean {
  const { rpc, volume, pvc, code, fired } = query;
  if (rpc && !rpc.some((glob) => matchesGlob(glob, call.method))) return false;
  if (volume !== undefined && !matchesGlob(volume, call.volumeId ?? '')) return false;
  if (pvc !== undefined && !matchesClaim(pvc, volumes.pvcOf(call))) return false;
  if (code && !code.some((glob) => call.code !== undefined && matchesGlob(glob, call.code))) return false;
  return fired === undefined || call.fired.some((rule) => matchesRule(fired, rule));
}

function matchesClaim(glob: string, { namespace = '', name }: { namespace?: string; name?: string }) {
  if (name === undefined) return false;
  const slash = glob.indexOf('/');
  if (slash === -1) return matchesGlob(glob, name);
  return matchesGlob(glob.slice(0, slash), namespace) && matchesGlob(glob.slice(slash + 1), name);
}

/** `rule` is `scenario/rule`; a glob without a slash is about the rule's own name. */
export function matchesRule(glob: string, rule: string): boolean {
  return matchesGlob(glob, glob.includes('/') ? rule : rule.slice(rule.lastIndexOf('/') + 1));
}

/**
 * Whether a line of a journal can matter to a query, from its text alone: parsing costs a hundred times as much. Events
 * always may (restarts, marks), and so may CreateVolume: it tells which volume is whose.
 */
export function lineFilter(query: CallQuery): (line: string) => boolean {
  const { rpc, volume, since } = query;
  const from = since?.kind === 'time' ? new Date(since.ms).toISOString() : undefined;
  const id = volume !== undefined && !/[*?]/.test(volume) ? JSON.stringify(volume) : undefined;
  return (line) => {
    const head = HEAD.exec(line);
    if (!head?.groups) return true;
    const { at = '', type, method = '' } = head.groups;
    if (type === 'event' || method === 'CreateVolume' || method === 'NodeGetInfo') return true;
    if (from !== undefined && at < from) return false;
    if (rpc && !rpc.some((glob) => matchesGlob(glob, method))) return false;
    return id === undefined || line.includes(id);
  };
}

/** How Journal writes an entry; anything else is parsed. */
const HEAD =
  /^\{"seq":\d+,"at":"(?<at>[^"]+)","mono":[\d.]+,"type":"(?<type>\w+)"(?:,"call":\d+,"method":"(?<method>\w+)")?/;
