import type { Clock } from '../../util/clock';

/** A call that a rule keeps waiting. */
export interface HeldCall {
  readonly call: number;
  readonly method: string;
  readonly volumeId: string | undefined;
  readonly scenario: string;
  readonly rule: string;
  readonly kind: 'delay' | 'hang';
  /** Wall time, milliseconds. */
  readonly since: number;
}

export interface HoldOptions extends Omit<HeldCall, 'since'> {
  /** Undefined: until it is let go or `signal` aborts. */
  readonly ms: number | undefined;
  /** The client's; undefined where the work goes on without it. */
  readonly signal: AbortSignal | undefined;
}

interface Entry extends HeldCall {
  letGo(): void;
}

/** Every call that waits because a rule says so. They wait here, holding nothing that another volume needs. */
export class HeldCalls {
  private readonly entries = new Set<Entry>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.entries.size;
  }

  list(): HeldCall[] {
    return [...this.entries].map(({ letGo: _, ...call }) => call);
  }

  /** @returns whether the time was up, or somebody let go. @throws the signal's reason when that aborts first. */
  async hold({ ms, signal, ...call }: HoldOptions): Promise<'time' | 'released'> {
    signal?.throwIfAborted();
    const patience = new AbortController();
    let released = false;
    const entry: Entry = {
      ...call,
      since: this.clock.now(),
      letGo: () => {
        released = true;
        patience.abort();
      },
    };
    const leave = () => patience.abort();
    signal?.addEventListener('abort', leave, { once: true });
    this.entries.add(entry);
    try {
      if (ms !== undefined) await this.clock.sleep(ms, patience.signal);
      else await aborted(patience.signal);
      return 'time';
    } catch (error) {
      if (released) return 'released';
      throw signal?.aborted ? signal.reason : error;
    } finally {
      this.entries.delete(entry);
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Lets go of those that `which` names; they go on as if their time were up. @returns how many. */
  release(which: (call: HeldCall) => boolean = () => true): number {
    const found = [...this.entries].filter(which);
    for (const entry of found) entry.letGo();
    return found.length;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
