import type { Clock } from './clock';

interface Sleeper {
  at: number;
  order: number;
  wake(): void;
}

/** Time that passes only when it is told to: what waits is woken in the order of its time, one after the other. */
export class VirtualClock implements Clock {
  private elapsed = 0;
  private lastOrder = 0;
  private readonly sleepers = new Set<Sleeper>();

  /** @param start wall time at the beginning, milliseconds since the epoch. */
  constructor(private readonly start = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.start + this.elapsed;
  }

  monotonic(): number {
    return this.elapsed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = (done: () => void) => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', onAbort);
        done();
      };
      const onAbort = () => end(() => reject(signal?.reason));
      const sleeper: Sleeper = {
        at: this.elapsed + Math.max(0, ms),
        order: ++this.lastOrder,
        wake: () => end(resolve),
      };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Milliseconds until the next sleeper wakes; undefined when nobody sleeps. */
  get untilNext(): number | undefined {
    const next = this.next();
    return next && next.at - this.elapsed;
  }

  /** Lets time pass to the next sleeper and wakes that one alone. Whoever calls it sees to it that nobody is at work. */
  wakeNext(): void {
    const next = this.next();
    if (!next) return;
    this.elapsed = next.at;
    next.wake();
  }

  /** Lets time pass up to the next sleeper at most, waking nobody. */
  pass(ms: number): void {
    this.elapsed += Math.max(0, Math.min(ms, this.untilNext ?? ms));
  }

  /** Lets time pass. What wakes may sleep again within it. */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    for (;;) {
      await settled();
      const next = this.next();
      if (!next || next.at > end) break;
      this.elapsed = next.at;
      next.wake();
    }
    this.elapsed = end;
    await settled();
  }

  private next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.sleepers)
      if (!first || sleeper.at < first.at || (sleeper.at === first.at && sleeper.order < first.order))
        first = sleeper;
    return first;
  }
}

/** What is ready to run has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
