import type { Expectation } from './expectation';
import type { Expression } from './expression';
import type { Rule } from './rule';

/**
 * A scenario as the engine and the verdict work with it: everything resolved, every default filled in, every pattern
 * compiled. scenarios/language makes it from YAML; docs/scenarios.md describes what people write.
 */
export interface Scenario {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Every draw is a function of this, the rule's name, the key of its counter and the ordinal there. */
  readonly seed: number;
  /** Armed when it is loaded. One that is not still acts on volumes that name it. */
  readonly enabled: boolean;
  /** Milliseconds after it was armed at which it disarms itself and lets go of what it holds. */
  readonly expiresMs: number | undefined;
  /** Injected errors do not name the scenario. */
  readonly discreet: boolean;
  readonly limits: Limits;
  readonly rules: readonly Rule[];
  readonly machines: Readonly<Record<string, { readonly initial: string }>>;
  readonly expect: readonly Expectation[];
}

export interface Limits {
  /** Fires of all rules together. */
  readonly maxFired: number | undefined;
  /** Calls that are delayed or hung at one moment. */
  readonly maxActive: number | undefined;
  /** Different volumes that rules fired on. */
  readonly maxVolumes: number | undefined;
  /** Longest hang, in milliseconds. */
  readonly maxHangMs: number | undefined;
  readonly allowDestructive: boolean;
  /** When one of them is true the scenario disarms itself. */
  readonly stopIf: readonly Expression[];
}

/** One line of a file, counted from 1, for messages about what was loaded from there. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
