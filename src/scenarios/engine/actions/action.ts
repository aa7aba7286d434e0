import type { Clock } from '../../../util/clock';
import type { Action, DiskCondition, RegistrationAct } from '../../model';
import type { Fire } from '../decide';
import type { CallFacts, NodeFacts } from '../facts';
import type { HeldCalls } from '../held';

/** What rules may do to the process that serves the call. */
export interface ProcessControl {
  /** Ends at once, as a crash does. The journal and the counters are on disk before. */
  exit(code: number): Promise<never>;
  /** SIGSTOP, with somebody else left to send SIGCONT after that time. */
  stopFor(ms: number): Promise<void>;
  /** Cuts every connection and removes the socket; it listens again after that time, or at `reopen`. */
  closeSocket(ms: number | undefined): Promise<void>;
}

/** What rules may do to the registration with the kubelet. */
export interface RegistrationControl {
  /** Begins at once, and goes on by itself for the act's time, or until `heal`. */
  act(act: RegistrationAct, by: { scenario: string; rule: string }): void;
  /** Ends what the scenario's rules did, or what any did. */
  heal(scenario?: string): void;
  /** The time of a rule that acts by time is over: ends what it began for no time of its own. */
  windowClosed(scenario: string, rule: string): void;
}

/** A call while rules act on it. */
export interface ActionCall extends CallFacts {
  /** The client's; an action at a named point does not look at it. */
  readonly signal: AbortSignal;
  /** In the journal, as what was done. */
  effect(text: string): void;
}

export interface ActionContext {
  readonly fire: Fire;
  readonly call: ActionCall;
  /** Undefined at a named point: the work goes on without the client. */
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  readonly held: HeldCalls;
  readonly process: ProcessControl;
  /** Undefined where the driver does not register itself. */
  readonly registration: RegistrationControl | undefined;
  node(): NodeFacts;
  changeMachine(machine: string, state: string): void;
}

export type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>;

/**
 * Does one action. Throws CsiError for an answer that is not OK. What changes a message is not done here but where the
 * message is: see Engine.request and Engine.respond.
 */
export type Perform<K extends Action['kind']> = (
  action: ActionOf<K>,
  context: ActionContext,
) => Promise<void> | void;

export type { DiskCondition };
