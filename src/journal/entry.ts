import type { Method } from '../csi/rpcs';

interface Base {
  /** Grows by one per entry of this process. */
  seq: number;
  /** Wall time, ISO 8601 with milliseconds. */
  at: string;
  /** Monotonic milliseconds of this process. */
  mono: number;
}

/** A call has arrived. Everything in `request` has been through the redaction. */
export interface ReceivedEntry extends Base {
  type: 'received';
  call: number;
  method: Method;
  volumeId?: string;
  nodeId?: string;
  targetPath?: string;
  stagingTargetPath?: string;
  request: object;
  /** Milliseconds the client gave the call (grpc-timeout); absent: no deadline. */
  timeoutMs?: number;
  traceparent?: string;
}

/** Why a call did not simply end: its client went away, or a rule acted on it. */
export interface AnsweredEntry extends Base {
  type: 'answered';
  call: number;
  method: Method;
  volumeId?: string;
  code: string;
  message?: string;
  durationMs: number;
  response?: object;
  /** What was done to the machine, in order. */
  effects: string[];
  /** Names of the rules that fired, as `scenario/rule`. */
  fired: string[];
  /** The client had cancelled, or its deadline had passed, before the answer. The work was done all the same. */
  abandoned?: boolean;
}

/** Something that is no call: start, recovery, stop. */
export interface EventEntry extends Base {
  type: 'event';
  event: string;
  details: object;
}

export type JournalEntry = ReceivedEntry | AnsweredEntry | EventEntry;

type WithoutBase<T> = T extends Base ? Omit<T, keyof Base> : never;
export type NewEntry = WithoutBase<JournalEntry>;
