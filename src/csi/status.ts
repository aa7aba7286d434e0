/** The sixteen canonical gRPC codes that may travel with an error. OK (0) is not an error. */
export enum Code {
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
  UNAUTHENTICATED = 16,
}

export type CodeName = keyof typeof Code;

export interface CsiErrorOptions {
  cause?: unknown;
  /**
   * What logs and the journal may say, when `message` itself repeats something sensitive to the caller
   * (mount flags may hold a password: CSI specification, VolumeCapability.MountVolume).
   */
  loggable?: string;
}

/** An answer that is not OK: a canonical code and a sentence a person can act on. */
export class CsiError extends Error {
  override readonly name = 'CsiError';
  readonly loggable: string;

  constructor(
    readonly code: Code,
    message: string,
    options: CsiErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.loggable = options.loggable ?? message;
  }

  get codeName(): CodeName {
    return Code[this.code] as CodeName;
  }
}

const thrower = (code: Code) => (message: string, options?: CsiErrorOptions) =>
  new CsiError(code, message, options);

export const invalidArgument = thrower(Code.INVALID_ARGUMENT);
export const notFound = thrower(Code.NOT_FOUND);
export const alreadyExists = thrower(Code.ALREADY_EXISTS);
export const permissionDenied = thrower(Code.PERMISSION_DENIED);
export const resourceExhausted = thrower(Code.RESOURCE_EXHAUSTED);
export const failedPrecondition = thrower(Code.FAILED_PRECONDITION);
export const aborted = thrower(Code.ABORTED);
export const outOfRange = thrower(Code.OUT_OF_RANGE);
export const unimplemented = thrower(Code.UNIMPLEMENTED);
export const internal = thrower(Code.INTERNAL);
export const unavailable = thrower(Code.UNAVAILABLE);
export const unauthenticated = thrower(Code.UNAUTHENTICATED);
