import type { Method, RequestOf, ResponseOf } from '../csi/rpcs';
import type { CodeName } from '../csi/status';
import type { DiskTarget, PreparedDisk } from '../faults/disk/target';
import type { Miss } from '../journal/entry';
import type { CallFacts } from '../scenarios/engine/facts';

/** A call as the fault gate sees it. */
export interface GateCall<M extends Method = Method> {
  readonly id: number;
  readonly method: M;
  /** As it arrived; a rule may put another one in its place before the work. The journal keeps the first. */
  request: RequestOf<M>;
  /** What is known of it as it arrived. */
  readonly facts: CallFacts;
  /** Aborts when the client has gone; a fault that waits must stop then. */
  readonly signal: AbortSignal;
  /** Notes in the journal that a rule acted: `scenario/rule`. */
  fired(rule: string): void;
  /** Notes in the journal that a rule was about this method and did not act, and why. */
  missed(miss: Miss): void;
  /** Notes in the journal what was done. */
  effect(text: string): void;
}

/** The places where a rule may act on a call. Before everything, after the work, and between two steps of it. */
export interface FaultGate {
  /**
   * Before validation, without any lock: what happens here models the transport. May wait, throw the answer, or return
   * an answer in place of the work.
   */
  before<M extends Method>(call: GateCall<M>): Promise<ResponseOf<M> | undefined>;
  /**
   * The work is done: the answer may be changed, or lost by throwing. The volume's own lock is held still, those of
   * others (the source of a clone) are not.
   */
  after<M extends Method>(call: GateCall<M>, response: ResponseOf<M>): Promise<ResponseOf<M>>;
  /** A named point between two steps of the work (scenarios/points.ts). Only the volume's own lock may be held for long. */
  point(call: GateCall, name: string): Promise<void>;
  /** A disk is about to be staged, under its volume's lock: conditions of the disk come true here (faults/disk). */
  disk?(call: GateCall, target: DiskTarget): Promise<PreparedDisk | undefined>;
  /** The call has been answered. */
  ended?(call: GateCall, code: CodeName | 'OK'): void;
}

/** No rules: every call is answered as it should be. */
export const noFaults: FaultGate = {
  before: async () => undefined,
  after: async (_call, response) => response,
  point: async () => undefined,
};
