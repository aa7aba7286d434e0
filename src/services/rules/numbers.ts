import type { CapacityRange__Output } from '../../csi/gen/csi/v1/CapacityRange';
import { parseInt64 } from '../../csi/int64';
import { outOfRange } from '../../csi/status';
import { broken, type Check, invalid } from './check';

/** max_entries, max_results. */
export const notNegative: Check<number> = (value, at) => {
  if (value < 0) throw invalid(at, 'zero or more', `${value}`);
};

/** The one field whose violation has its own code in the specification (SnapshotMetadata error tables). */
export const startingOffset: Check<string> = (value, at) => {
  if (parseInt64(at, value) < 0n) throw outOfRange(broken(at, 'zero or more bytes', value));
};

/**
 * Both zero says nothing and is refused like a negative value. A limit below the requirement is OUT_OF_RANGE: the
 * specification names no code for it, and nothing can ever serve it.
 */
export const capacityRange: Check<CapacityRange__Output> = (range, at) => {
  const requiredBytes = parseInt64(`${at}.required_bytes`, range.required_bytes);
  const limitBytes = parseInt64(`${at}.limit_bytes`, range.limit_bytes);
  if (requiredBytes < 0n) throw invalid(`${at}.required_bytes`, 'zero or more bytes', `${requiredBytes}`);
  if (limitBytes < 0n) throw invalid(`${at}.limit_bytes`, 'zero or more bytes', `${limitBytes}`);
  if (requiredBytes === 0n && limitBytes === 0n) {
    throw invalid(at, 'required_bytes or limit_bytes above zero', 'both zero');
  }
  if (limitBytes > 0n && limitBytes < requiredBytes) {
    throw outOfRange(
      broken(at, `limit_bytes of at least required_bytes (${requiredBytes})`, `${limitBytes}`),
    );
  }
};
