/** A string test: a glob, `/re/`, or one of them after `!`. */
export interface Pattern {
  /** As written. */
  readonly source: string;
  /** Absent values match nothing but a negation. */
  test(value: string | undefined): boolean;
}

/** One of them has to hold (negations: all of them). Empty: no condition. */
export interface Patterns {
  readonly patterns: readonly Pattern[];
  test(value: string | undefined): boolean;
  /** For near misses: `fast, slow*`. */
  readonly source: string;
}

export interface QuantityTest {
  readonly source: string;
  test(bytes: bigint | undefined): boolean;
}
