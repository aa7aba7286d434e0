import type { CallChange, JournalCall } from '../../journal/calls';
import type { EventEntry } from '../../journal/entry';
import type { VolumeIndex } from '../../journal/volume-index';
import type { ArmedRules } from './armed-rules';
import type { SeenCall } from './select';
import type { VolumeStates } from './volume-states';
import type { WorldSnapshot } from './world';

/**
 * `passed`: holds; may still fail while others are waited for, unless it is settled. `pending`: not yet known.
 * `unavailable`: asks for something that is not here. `skipped`: the same for an optional one.
 */
export type Status = 'passed' | 'failed' | 'pending' | 'skipped' | 'unavailable';

export interface Outcome {
  readonly status: Status;
  /** One line: what was seen, against what was wanted. */
  readonly summary: string;
  /** The newest of the calls it stands on. */
  readonly evidence?: readonly JournalCall[];
  /** Why it failed, as far as the journal knows. */
  readonly nearMiss?: string | undefined;
}

/** Where an expectation begins to count. */
export interface Start {
  readonly ms: number;
  readonly order: number;
}

/** The moment at which an outcome is asked for. */
export interface Moment {
  readonly nowMs: number;
  /** Nothing is waited for any more. */
  readonly final: boolean;
  readonly world?: WorldSnapshot;
}

/** What all expectations see of the timeline. */
export interface Context {
  readonly volumes: VolumeIndex;
  readonly states: VolumeStates;
  readonly rules: ArmedRules;
}

export type Change = CallChange['change'];

/** One expectation over a timeline that goes on. It keeps what it needs of the calls it is about, and no more. */
export interface Evaluator {
  /** A call arrived or ended, at `atMs`. Every call is shown, also those that the expectation is not about. */
  call?(seen: SeenCall, change: Change, atMs: number): void;
  event?(entry: EventEntry, order: number, atMs: number): void;
  outcome(moment: Moment): Outcome;
}

const MAX_EVIDENCE = 10;

/** The newest calls, and how many there were. */
export class Evidence {
  total = 0;
  readonly calls: JournalCall[] = [];

  add(call: JournalCall): void {
    this.total += 1;
    this.calls.push(call);
    if (this.calls.length > MAX_EVIDENCE) this.calls.shift();
  }
}

export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1_000);
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
