import { aborted } from '../csi/status';
import type { Clock } from '../util/clock';

interface Holder {
  operation: string;
  since: number;
}

interface Held {
  exclusive: boolean;
  holders: Set<Holder>;
}

/** What an operation needs for itself, and what it only needs to stay as it is (the source of a clone). */
export interface LockRequest {
  exclusive: readonly string[];
  shared: readonly string[];
}

export interface Release {
  (): void;
  shared(): void;
}

/**
 * One operation at a time per key. Nobody ever waits: a second call is answered ABORTED (CSI, Concurrency), so no call
 * can stand behind another one, and taking several keys cannot deadlock.
 */
export class Locks {
  private readonly held = new Map<string, Held>();

  constructor(private readonly clock: Clock) {}

  /**
   * Takes all keys or none.
   * @returns the function that lets go of them, and one for the shared ones alone; calling them again does nothing.
   * @throws CsiError ABORTED naming the operation that holds one of them and for how long.
   */
  acquire(request: LockRequest, operation: string): Release {
    const exclusive = new Set(request.exclusive);
    const shared = new Set(request.shared.filter((key) => !exclusive.has(key)));
    for (const key of exclusive) this.check(key, operation, () => true);
    for (const key of shared) this.check(key, operation, (held) => held.exclusive);
    const holder = { operation, since: this.clock.monotonic() };
    for (const key of exclusive) this.held.set(key, { exclusive: true, holders: new Set([holder]) });
    for (const key of shared) {
      const held = this.held.get(key);
      if (held) held.holders.add(holder);
      else this.held.set(key, { exclusive: false, holders: new Set([holder]) });
    }
    const release = (keys: Iterable<string>) => {
      for (const key of keys) {
        const held = this.held.get(key);
        if (held?.holders.delete(holder) && held.holders.size === 0) this.held.delete(key);
      }
    };
    return Object.assign(() => release([...exclusive, ...shared]), { shared: () => release(shared) });
  }

  /** @throws CsiError ABORTED when an operation holds the key alone: for calls that take no lock and met its work half done. */
  assertFree(key: string, operation: string): void {
    this.check(key, operation, (held) => held.exclusive);
  }

  private check(key: string, operation: string, clashes: (held: Held) => boolean): void {
    const held = this.held.get(key);
    if (!held || !clashes(held)) return;
    const [holder] = held.holders;
    if (!holder) return;
    const seconds = ((this.clock.monotonic() - holder.since) / 1000).toFixed(1);
    throw aborted(
      `an operation on ${key} is pending: ${holder.operation}, for ${seconds} s; ` +
        `${operation} was not begun, repeat it when that has ended`,
    );
  }

  /** What is running now, for people who look. */
  list(): { key: string; operation: string; forMs: number }[] {
    const now = this.clock.monotonic();
    return [...this.held].flatMap(([key, { holders }]) =>
      [...holders].map((h) => ({ key, operation: h.operation, forMs: now - h.since })),
    );
  }
}
