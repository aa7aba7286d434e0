/** Math.min and Math.max take no bigint. */
export function smaller(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}

export function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}
