import { AssertionError } from 'node:assert';

/**
 * @param lines what was wanted, and below it what was found instead
 */
export function assertionError(lines: readonly string[]): AssertionError {
  // Of this operator Jest shows the message alone, and of any other two values that are not there.
  return new AssertionError({ message: lines.join('\n'), operator: 'fail' });
}
