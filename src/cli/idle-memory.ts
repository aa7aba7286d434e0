import type { Clock } from '../util/clock';

/** A driver that was asked less since the last time has little to give back. */
const MIN_CALLS = 500;
const LOOK_EVERY_MS = 2_000;
const TRIM_EVERY_MS = 30_000;

export interface IdleMemoryOptions {
  /** Calls so far; it only grows. */
  calls(): number;
  trim(): Promise<void>;
  clock: Clock;
}

/** Has free memory given back to the kernel when many calls were followed by a time without any. */
export class IdleMemory {
  private seen: number;
  private trimmedAt: { calls: number; time: number } | undefined;

  constructor(private readonly options: IdleMemoryOptions) {
    this.seen = options.calls();
  }

  /** Looks every two seconds as long as the process lives, and keeps it from ending no moment longer. */
  start(): void {
    setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** One look. A trim that fails does no harm: the memory stays where it was. */
  async look(): Promise<void> {
    const { calls, trim, clock } = this.options;
    const before = this.seen;
    this.seen = calls();
    const isBusy = this.seen !== before;
    const isWorthIt = this.seen - (this.trimmedAt?.calls ?? 0) >= MIN_CALLS;
    const wasJustNow =
      this.trimmedAt !== undefined && clock.monotonic() - this.trimmedAt.time < TRIM_EVERY_MS;
    if (isBusy || !isWorthIt || wasJustNow) return;
    this.trimmedAt = { calls: this.seen, time: clock.monotonic() };
    await trim().catch(() => undefined);
  }
}
