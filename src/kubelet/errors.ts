import { Code, CsiError } from '../csi/status';

/**
 * What a failed step leaves behind (pkg/volume/util/types):
 * - `final`: the driver did not do it. The volume is forgotten, nothing is undone.
 * - `uncertain`: it may still be done. The volume is remembered and undone when nobody wants it any more.
 * - `transient`: the driver was not reached at all; what was known before stays.
 */
export type ErrorClass = 'final' | 'uncertain' | 'transient';

/** What pkg/volume/csi puts before most of what it says. */
export function csiText(text: string): string {
  return `kubernetes.io/csi: ${text}`;
}

/** A step that failed, in the kubelet's words. */
export class StepError extends Error {
  override readonly name = 'StepError';
  constructor(
    readonly errorClass: ErrorClass,
    message: string,
    /** Of the driver's answer, when one came. */
    readonly code?: Code,
  ) {
    super(message);
  }
}

/** pkg/volume/csi/csi_client.go, isFinalError. */
const UNCERTAIN: ReadonlySet<Code> = new Set([
  Code.CANCELLED,
  Code.DEADLINE_EXCEEDED,
  Code.RESOURCE_EXHAUSTED,
  Code.ABORTED,
  Code.UNAVAILABLE,
]);

export function isFinalError(error: unknown): boolean {
  return error instanceof CsiError && !UNCERTAIN.has(error.code);
}

const SPECIAL: Readonly<Partial<Record<Code, string>>> = { [Code.CANCELLED]: 'Canceled' };

/** As Go's codes print: `DeadlineExceeded`. */
export function goCodeName(code: Code): string {
  return (
    SPECIAL[code] ??
    (Code[code] ?? `Code(${code})`)
      .split('_')
      .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
      .join('')
  );
}

/** As Go's gRPC prints an answer that is not OK. */
export function rpcErrorText(error: unknown): string {
  if (error instanceof CsiError) return `rpc error: code = ${goCodeName(error.code)} desc = ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** A call that failed on the way of a step: `text` says what was being done, and the class is what the step makes of it, whatever the code. */
export function failedCall(errorClass: ErrorClass, text: string, error: unknown): StepError {
  return new StepError(errorClass, `${text}: ${rpcErrorText(error)}`, stepErrorOf(error).code);
}

/** An answer of NodeStageVolume, NodePublishVolume or NodeExpandVolume as the step that failed with it. */
export function stepErrorOf(error: unknown): StepError {
  if (error instanceof StepError) return error;
  return new StepError(
    isFinalError(error) ? 'final' : 'uncertain',
    rpcErrorText(error),
    error instanceof CsiError ? error.code : undefined,
  );
}
