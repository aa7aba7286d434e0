import type { CapabilityKind } from '../csi/capabilities';
import type { Hints } from './hints';
import type { Probe } from './probe';

/**
 * How binding a case is: `must` and `should` are the specification's words; `allowed` holds an answer to a set that the
 * specification allows; `decision` is about what it leaves open or contradicts itself in, and accepts every answer that
 * can be defended.
 */
export const LEVELS = ['must', 'should', 'allowed', 'decision'] as const;
export type Level = (typeof LEVELS)[number];

/** What a case cannot do without, beside what the RPCs that it calls ask for. */
export type Need =
  | `${CapabilityKind}.${string}`
  | `no ${CapabilityKind}.${string}`
  | `hint ${keyof Hints}`
  | 'a second endpoint'
  | 'a command'
  | 'places to look in';

/** One thing that the specification asks of a driver, and how to find out. */
export interface Case {
  readonly id: string;
  /** `Controller.CreateVolume`; `(any)` for what holds for every RPC. */
  readonly rpc: string;
  /** What is done and what has to come of it, on one line. */
  readonly title: string;
  readonly level: Level;
  /** Section of the CSI specification 1.12. */
  readonly section: string;
  readonly needs?: readonly Need[];
  /** @throws Failure, NotApplicable */
  run(probe: Probe): Promise<void>;
}

/** The cases of one RPC. */
export function casesOf(rpc: string, cases: readonly Omit<Case, 'rpc'>[]): readonly Case[] {
  return cases.map((one) => ({ ...one, rpc }));
}

/** The driver did not do what the specification asks. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    /** The call, without secrets; empty where none is to blame. */
    readonly called: string,
    readonly expected: string,
    readonly found: string,
  ) {
    super(`expected ${expected}, found ${found}${called === '' ? '' : ` (${called})`}`);
  }
}

/** The driver cannot be asked this. The message says what is missing. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}
