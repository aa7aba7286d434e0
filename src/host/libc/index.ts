import { type AsyncCalls, asyncCalls } from './async-calls';
import { type Binding, loadBinding } from './binding';
import { Limiter } from './limiter';
import { type SyncCalls, syncCalls } from './sync-calls';

export type { AsyncCalls } from './async-calls';
export * from './constants';
export { type About, describeErrno, errnoName, isErrno, systemCallError } from './errno';
export { decodeDevice, encodeDevice, type Statfs, type Statx } from './structs';
export type { SyncCalls } from './sync-calls';

export interface LibcOptions {
  /** Calls in flight at once (default 8). Keep it, plus the reserve, below UV_THREADPOOL_SIZE. */
  width?: number;
  /** Places of their own for `urgent` calls (default 2). */
  reserve?: number;
}

/** The kernel, as far as the driver needs it. At most `width` asynchronous calls are in flight at once. */
export interface Libc extends AsyncCalls, SyncCalls {
  /** The same calls on the reserve: for what lets hung calls go on (thaw, lazy unmount), which must not queue behind them. */
  readonly urgent: AsyncCalls;
}

/** Nothing native is loaded before the first call. */
export function createLibc(options: LibcOptions = {}): Libc {
  let binding: Binding | undefined;
  const load = () => {
    binding ??= loadBinding();
    return binding;
  };
  return {
    ...asyncCalls(load, new Limiter(options.width ?? 8)),
    ...syncCalls(load),
    urgent: asyncCalls(load, new Limiter(options.reserve ?? 2)),
  };
}
