import type { Problem } from '../scenarios/language';

/** Stable names of what can go wrong; docs/control.md lists them. */
export type ControlErrorCode =
  | 'invalid-request'
  | 'invalid-json'
  | 'unauthorized'
  | 'forbidden-host'
  | 'forbidden-origin'
  | 'not-found'
  | 'no-such-route'
  | 'method-not-allowed'
  | 'timeout'
  | 'conflict'
  | 'body-too-large'
  | 'unsupported-media-type'
  | 'invalid-scenario'
  | 'internal'
  | 'unavailable'
  /** Said by the client: nobody answers there. */
  | 'unreachable';

/** A request that was refused or failed: the same on the server, on the wire (RFC 9457) and for the client. */
export class ControlError extends Error {
  override readonly name = 'ControlError';

  constructor(
    readonly code: ControlErrorCode,
    /** Of HTTP; 0 when nobody answered. */
    readonly status: number,
    /** What was expected, what was found, what to do. */
    readonly detail: string,
    /** Of a scenario's text: every problem, each with its place. */
    readonly errors: readonly Problem[] = [],
  ) {
    super(detail);
  }
}
