import { table } from '../../util/text';
import type { ClusterEvent } from '../events';
import type { Outcome } from '../rehearsal';
import type { CallEntry, Entry, Timeline } from './timeline';

const WHO_WIDTH = 24;

function clockText(ms: number): string {
  return `+${(ms / 1000).toFixed(3)}s`.padStart(11);
}

const UUID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const SHA256 = /\b([0-9a-f]{8})[0-9a-f]{56}\b/g;

/** Names that are longer than an eye takes in; the other formats have them whole. */
function shortened(text: string): string {
  return text.replace(UUID, '$1…').replace(SHA256, '$1…');
}

/** One line of the timeline. */
export function entryLine(entry: Entry): string {
  return shortened(lineOf(entry));
}

function lineOf(entry: Entry): string {
  const time = clockText(entry.at);
  if (entry.kind === 'step') return `${time}  ── ${entry.text}`;
  const where = entry.node === undefined ? '' : ` ${entry.node}`;
  const who = `${entry.who}${where}`.padEnd(WHO_WIDTH);
  return `${time}  ${who} ${MARK[entry.kind]} ${bodyOf(entry)}`;
}

/** One sign for each kind, so that an eye finds calls and events. */
const MARK: Readonly<Record<Entry['kind'], string>> = {
  step: '─',
  object: '·',
  state: '=',
  call: '→',
  event: '!',
  backoff: '↻',
  file: '▪',
  log: '…',
  note: '*',
};

function bodyOf(entry: Entry): string {
  const about = entry.about === undefined ? '' : `${entry.about}: `;
  if (entry.kind === 'call') return `${callText(entry as CallEntry)}`;
  const times = entry.times === undefined ? '' : ` (${entry.times} times)`;
  return `${about}${entry.text}${times}`;
}

function callText({ method, code, message, durationMs, about }: CallEntry): string {
  const subject = about === undefined ? '' : ` ${about}`;
  if (code === undefined) return `${method}${subject}  (no answer yet)`;
  const took = durationMs === 0 ? '' : ` after ${((durationMs ?? 0) / 1000).toFixed(3)}s`;
  return `${method}${subject}  ${code}${took}${message === undefined ? '' : `: ${message}`}`;
}

/** The timeline for people. Questions for capabilities that follow each other are one line. */
export function timelineText(entries: readonly Entry[]): string {
  const lines: string[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (!entry) continue;
    let count = 1;
    while (isSameQuestion(entry, entries[index + count])) count += 1;
    const line = entryLine(entry);
    lines.push(count === 1 ? line : `${line}  ×${count}`);
    index += count - 1;
  }
  return `${lines.join('\n')}\n`;
}

function isSameQuestion(entry: Entry, next: Entry | undefined): boolean {
  const asks = (candidate: Entry | undefined) =>
    candidate?.kind === 'call' &&
    candidate.text === 'NodeGetCapabilities' &&
    (candidate as CallEntry).code === 'OK';
  return (
    asks(entry) &&
    asks(next) &&
    entry.about === next?.about &&
    entry.at === next?.at &&
    entry.node === next?.node
  );
}

/** As `kubectl get events` would list them, with how often and over how long. */
export function eventsText(events: readonly ClusterEvent[]): string {
  const rows = events.map(({ type, reason, object, source, message, count, first, last }) => [
    clockText(first).trim(),
    count === 1 ? '' : `x${count} over ${((last - first) / 1000).toFixed(0)}s`,
    type,
    reason,
    object,
    source,
    message,
  ]);
  return table(['FIRST', 'TIMES', 'TYPE', 'REASON', 'OBJECT', 'FROM', 'MESSAGE'], rows);
}

export function callsText(calls: readonly CallEntry[]): string {
  const rows = calls.map((call) => [
    clockText(call.at).trim(),
    call.durationMs === undefined ? '' : `${(call.durationMs / 1000).toFixed(3)}s`,
    call.who,
    call.method,
    call.code ?? 'RUNNING',
    call.about ?? '',
    call.message ?? '',
  ]);
  return table(['BEGAN', 'TOOK', 'FROM', 'METHOD', 'CODE', 'VOLUME', 'MESSAGE'], rows);
}

/** Where things stand at the end, and why. */
export function outcomeText({ passed, failure, standings }: Outcome, elapsedMs: number): string {
  const head = passed
    ? `Every step came true, in ${(elapsedMs / 1000).toFixed(1)} s of the cluster's time.`
    : `Not so: ${failure}`;
  const lines = standings.flatMap(({ what, state, why }) => [
    `  ${what}: ${state}`,
    ...why.map((line) => `      ${line}`),
  ]);
  const nothing = '  Nothing is left: no pod, no volume on a node, no VolumeAttachment.';
  return shortened(`\n${[head, ...(lines.length === 0 ? [nothing] : lines)].join('\n')}\n`);
}

export function jsonText(timeline: Timeline, events: readonly ClusterEvent[], outcome: Outcome): string {
  return `${JSON.stringify({ outcome, events, entries: timeline.entries }, undefined, 2)}\n`;
}
