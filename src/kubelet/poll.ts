import type { Clock } from '../util/clock';

export interface PollOptions {
  readonly clock: Clock;
  readonly periodMs: number;
  /** Left out: for ever. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Calls back when something changed. @returns the function that ends it */
  watch(changed: () => void): () => void;
  /** Looks at each period, also when nothing changed that is told: what it looks at is not ours alone. */
  readonly always: boolean;
}

/**
 * Looks at once, and then every `periodMs`; looks that could find nothing new are left out.
 * @returns whether it came true in time. @throws the signal's reason
 */
export async function pollUntil(
  { clock, periodMs, timeoutMs, signal, watch, always }: PollOptions,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const began = clock.now();
  const deadline = timeoutMs === undefined ? undefined : began + timeoutMs;
  let changed = false;
  let wake: (() => void) | undefined;
  const unwatch = watch(() => {
    changed = true;
    wake?.();
  });
  try {
    for (;;) {
      signal.throwIfAborted();
      changed = false;
      const looked = clock.now();
      if (await condition()) return true;
      if (deadline !== undefined && clock.now() >= deadline) return false;
      if (!changed && !always) await new Waiting(clock, signal).until(deadline, (end) => (wake = end));
      wake = undefined;
      const passed = Math.max(clock.now() - began, looked - began + 1);
      const next = began + Math.ceil(passed / periodMs) * periodMs;
      await clock.sleep(Math.min(next, deadline ?? next) - clock.now(), signal);
    }
  } finally {
    unwatch();
  }
}

/** One wait that ends at a moment, when somebody ends it, or with the signal. */
export class Waiting {
  private readonly patience = new AbortController();

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws the signal's reason */
  async until(moment: number | undefined, begin: (end: () => void) => void): Promise<void> {
    const { patience, signal, clock } = this;
    // A reason of its own: without one each abort makes an exception with a stack.
    const end = () => patience.abort('awake');
    begin(end);
    signal.addEventListener('abort', end, { once: true });
    try {
      if (signal.aborted) return;
      if (moment === undefined)
        await new Promise<void>((resolve) =>
          patience.signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      else await clock.sleep(Math.max(0, moment - clock.now()), patience.signal).catch(() => undefined);
    } finally {
      signal.removeEventListener('abort', end);
    }
    signal.throwIfAborted();
  }
}
