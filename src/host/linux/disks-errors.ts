import { errnoOf } from '../../util/files';
import { HostError } from '../host';
import { systemCallError } from '../libc';

/** A failure of node:fs as the HostError it is for the rest of the driver; anything else as it is. */
export function asHostError(operation: string, subject: string, error: unknown): unknown {
  if (error instanceof HostError) return error;
  const errno = errnoOf(error);
  return errno === undefined ? error : systemCallError(errno, { operation, subject });
}
