import { internal, invalidArgument } from './status';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/**
 * An int64 as the wire layer gives it (a decimal string) to the bigint the driver counts with. A number would
 * lose bytes above 2^53.
 * @throws CsiError INVALID_ARGUMENT when `text` is no decimal int64; `field` names it in the message.
 */
export function parseInt64(field: string, text: string): bigint {
  if (/^-?\d{1,19}$/.test(text)) {
    const value = BigInt(text);
    if (value >= MIN && value <= MAX) return value;
  }
  throw invalidArgument(`${field}: expected a 64-bit integer; found ${JSON.stringify(text.slice(0, 64))}`);
}

/**
 * The way back, for a reply. The encoder would silently wrap a larger value around.
 * @throws CsiError INTERNAL when `value` does not fit: the mistake is ours, not the caller's.
 */
export function formatInt64(field: string, value: bigint): string {
  if (value >= MIN && value <= MAX) return value.toString();
  throw internal(`${field}: expected a reply within 64 bits; found ${value}`);
}
