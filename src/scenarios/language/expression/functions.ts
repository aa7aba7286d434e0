/** A function of the expression language; null in, null out, unless it says otherwise. */
export interface ExpressionFunction {
  /** A receiver counts: `a.contains(b)` is `contains(a, b)`. */
  readonly arity: number;
}

/** By name. What they do is in evaluate.ts; `has` and `matches` look at their arguments before they are evaluated. */
export const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
  ['size', { arity: 1 }],
  ['has', { arity: 1 }],
  ['lower', { arity: 1 }],
  ['contains', { arity: 2 }],
  ['startsWith', { arity: 2 }],
  ['endsWith', { arity: 2 }],
  ['matches', { arity: 2 }],
]);
