import { INITIAL_BACKOFF_MS, MAX_BACKOFF_MS } from './constants';

/** How long to leave alone what failed: 0.5, 1, 2, … 64, 122, 122 seconds. */
export class ExponentialBackoff {
  private durationMs = 0;
  private lastErrorAt = 0;

  /** Counts a failure. @returns milliseconds before the next try */
  failed(now: number): number {
    this.durationMs = Math.min(
      MAX_BACKOFF_MS,
      this.durationMs === 0 ? INITIAL_BACKOFF_MS : this.durationMs * 2,
    );
    this.lastErrorAt = now;
    return this.durationMs;
  }

  /** The next try may begin after this moment; undefined: now. */
  get retryAt(): number | undefined {
    return this.durationMs === 0 ? undefined : this.lastErrorAt + this.durationMs;
  }

  get beforeRetryMs(): number {
    return this.durationMs;
  }

  isSafeToRetry(now: number): boolean {
    return this.retryAt === undefined || now > this.retryAt;
  }
}
