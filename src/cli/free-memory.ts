import type { Clock } from '../util/clock';

/** A driver that was asked less since the last time has little to give back. */
const MIN_CALLS = 500;
const LOOK_EVERY_MS = 2_000;
/** A trim holds up whoever allocates for some 10 ms: a thousandth of the time, at most. */
const TRIM_EVERY_MS = 10_000;

export interface FreeMemoryOptions {
  /** Calls so far; it only grows. */
  calls(): number;
  trim(): Promise<void>;
  clock: Clock;
}

/** Has free memory given back to the kernel after many calls, without waiting for a time without any: there may be none. */
export class FreeMemory {
  private trimmed = { calls: 0, time: Number.NEGATIVE_INFINITY };

  constructor(private readonly options: FreeMemoryOptions) {}

  /** Looks every two seconds as long as the process lives, and keeps it from ending no moment longer. */
  start(): void {
    setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** One look. A trim that fails does no harm: the memory stays where it was. */
  async look(): Promise<void> {
    const { trim, clock } = this.options;
    const [calls, time] = [this.options.calls(), clock.monotonic()];
    if (calls - this.trimmed.calls < MIN_CALLS || time - this.trimmed.time < TRIM_EVERY_MS) return;
    this.trimmed = { calls, time };
    await trim().catch(() => undefined);
  }
}
