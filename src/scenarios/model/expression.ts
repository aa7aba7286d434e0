/** A pure expression over what is known of a call. Errors (a missing field, a wrong type) make it null. */
export interface Expression {
  readonly source: string;
  evaluate(scope: Scope): unknown;
}

/** Text with `${expression}` in it. */
export interface Template {
  readonly source: string;
  render(scope: Scope): string;
}

/** Roots of the paths that expressions and templates may name. Plain JSON data without secrets. */
export interface Scope {
  readonly request?: unknown;
  readonly volume?: unknown;
  readonly pod?: unknown;
  readonly node?: unknown;
  readonly call?: unknown;
  readonly rule?: unknown;
  readonly scenario?: unknown;
}

export const SCOPE_ROOTS = ['request', 'volume', 'pod', 'node', 'call', 'rule', 'scenario'] as const;
