/** A condition that cannot come true for this disk; the call goes on as if it had not been asked for. */
export class NotApplied extends Error {
  override readonly name = 'NotApplied';
}
