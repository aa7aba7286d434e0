import { StillInUse } from '../backends/backend';
import {
  aborted,
  Code,
  CsiError,
  failedPrecondition,
  internal,
  invalidArgument,
  outOfRange,
  resourceExhausted,
} from '../csi/status';
import { HostError } from '../host/host';
import { errnoOf } from '../util/files';

/** What a service threw, as an answer. The kubelet tells final from uncertain errors by the code, so each has its own. */
export function toCsiError(error: unknown): CsiError {
  if (error instanceof CsiError) return canonical(error);
  const message =
    error instanceof Error && error.message !== '' ? error.message : `unexpected: ${String(error)}`;
  if (error instanceof StillInUse) return failedPrecondition(message, { cause: error });
  if (error instanceof HostError && error.option !== undefined)
    return invalidArgument(
      `mount_flags: the option ${JSON.stringify(error.option)} was refused: ${message}`,
      { cause: error },
    );
  switch (errnoOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return resourceExhausted(`no space: ${message}`, { cause: error });
    case 'EAGAIN':
      return aborted(message, { cause: error });
    case 'EFBIG':
      return outOfRange(`too large for the filesystem that holds the data folder: ${message}`, {
        cause: error,
      });
    case 'ENAMETOOLONG':
      return invalidArgument(message, { cause: error });
    case 'EROFS':
      return internal(`read-only filesystem: ${message}`, { cause: error });
    default:
      return internal(message, { cause: error });
  }
}

/** Whoever made the error: the wire carries one of the sixteen codes and a sentence (CSI 1.12, Error Scheme). */
function canonical(error: CsiError): CsiError {
  const known = Code[error.code] !== undefined;
  if (known && /\S/.test(error.message)) return error;
  const why = known
    ? `${error.codeName} without a reason`
    : `the code ${error.code}, which gRPC does not have`;
  return new CsiError(
    known ? error.code : Code.UNKNOWN,
    error.message.trim() || `the call ended with ${why}`,
    {
      cause: error,
    },
  );
}

/** A programming error deserves its stack in the log; an answer that was meant does not. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof CsiError) && !(error instanceof HostError) && errnoOf(error) === undefined;
}
