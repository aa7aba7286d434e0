import type { Method, RequestOf, ResponseOf } from '../csi/rpcs';
import type { DiskTarget, PreparedDisk } from '../faults/disk/target';

/** A call as the fault gate sees it. */
export interface GateCall<M extends Method = Method> {
  readonly id: number;
  readonly method: M;
  readonly request: RequestOf<M>;
  /** Aborts when the client has gone; a fault that waits must stop then. */
  readonly signal: AbortSignal;
  /** Notes in the journal that a rule acted: `scenario/rule`. */
  fired(rule: string): void;
}

/** The places where a rule may act on a call. Before everything, after the work, and between two steps of it. */
export interface FaultGate {
  /**
   * Before validation, without any lock: what happens here models the transport. May wait, throw the answer, or return
   * an answer in place of the work.
   */
  before<M extends Method>(call: GateCall<M>): Promise<ResponseOf<M> | undefined>;
  /** The work is done and its locks are held: the answer may be changed, or lost by throwing. */
  after<M extends Method>(call: GateCall<M>, response: ResponseOf<M>): Promise<ResponseOf<M>>;
  /** A named point between two steps of the work. */
  point(call: GateCall, name: string): Promise<void>;
  /** A disk is about to be staged, under its volume's lock: conditions of the disk come true here (faults/disk). */
  disk?(call: GateCall, target: DiskTarget): Promise<PreparedDisk | undefined>;
}

/** No rules: every call is answered as it should be. */
export const noFaults: FaultGate = {
  before: async () => undefined,
  after: async (_call, response) => response,
  point: async () => undefined,
};
