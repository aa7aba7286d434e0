import type { Method } from '../csi/rpcs';

interface Base {
  /** Grows by one per entry of this process. */
  seq: number;
  /** Wall time, ISO 8601 with milliseconds. */
  at: string;
  /** Monotonic milliseconds of this process. */
  mono: number;
}

/** The claim a volume was made for, as the call or the volume's record says. */
export interface PvcNames {
  namespace?: string;
  name?: string;
}

/** The pod a volume is published for (podInfoOnMount), also on later calls about the same volume. */
export interface PodNames {
  namespace?: string;
  name?: string;
  uid?: string;
}

/** A rule whose method matched and that did not fire: the first of its keys that did not hold. */
export interface Miss {
  /** `scenario/rule` */
  rule: string;
  /** As written in a rule: `volume.storageClass`, `when.nth`, … */
  key: string;
  found?: string;
  wanted?: string;
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
  pvc?: PvcNames;
  pod?: PodNames;
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
  /** Rules that came close. */
  misses?: Miss[];
  pvc?: PvcNames;
  pod?: PodNames;
  /** The client had cancelled, or its deadline had passed, before the answer. The work was done all the same. */
  abandoned?: boolean;
}

/**
 * Something that is no call: started, stopped, scenarioArmed, scenarioDisarmed, scenarioReloaded, scenarioReloadFailed,
 * reset, released, mark, machine, volumeDeleted, fired (a rule that acts by time, or one that ended the process of the call it
 * fired on); of the registration with the kubelet:
 * registrationOffered, registered, registrationRefused, registrationWithdrawn, registrationFailed.
 */
export interface EventEntry extends Base {
  type: 'event';
  event: string;
  details: object;
}

export type JournalEntry = ReceivedEntry | AnsweredEntry | EventEntry;

type WithoutBase<T> = T extends Base ? Omit<T, keyof Base> : never;
export type NewEntry = WithoutBase<JournalEntry>;
