import type { TimelineEntry } from '../../journal/merge';
import type { Clock } from '../../util/clock';
import type { Expectation } from '../model';
import { Evaluation, type EvaluationOptions, type ExpectationResult } from './evaluate';
import type { WorldSnapshot, WorldView } from './world';

/** Whatever gives entries as they come: Timeline does. */
export interface TimelineSource {
  follow(options: {
    signal: AbortSignal;
  }): AsyncIterable<{ readonly entries: readonly TimelineEntry[]; readonly current: boolean }>;
}

export interface VerifyOptions extends EvaluationOptions {
  readonly expectations: readonly Expectation[];
  readonly timeline: TimelineSource;
  readonly world?: WorldView | undefined;
  /** Longest wait for what is pending, in milliseconds; 0: as it stands. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export interface Verdict {
  /** Every expectation that is not optional passed. */
  readonly passed: boolean;
  readonly results: readonly ExpectationResult[];
  readonly durationMs: number;
}

/** Time alone decides some expectations, and records change without an entry. */
const LOOK_MS = 250;

/**
 * The verdict as soon as no expectation is pending any more, or when the time is up.
 * @throws the signal's reason when it aborts first, and what reading the journal or the world throws
 */
export async function verify(options: VerifyOptions): Promise<Verdict> {
  const { expectations, timeline, world, waitMs, clock, signal } = options;
  signal?.throwIfAborted();
  const began = clock.monotonic();
  const evaluation = new Evaluation(expectations, options);
  const stop = new AbortController();
  const reading = stop.signal;
  const news = new News();
  let current = false;
  const read = (async () => {
    for await (const batch of timeline.follow({ signal: reading })) {
      for (const entry of batch.entries) evaluation.add(entry);
      current ||= batch.current;
      if (current) news.tell();
    }
    // A journal that cannot go on has said all it can.
    current = true;
    news.tell();
  })();
  read.catch((error: unknown) => news.fail(error));
  signal?.addEventListener('abort', () => news.fail(signal.reason), { once: true, signal: reading });
  try {
    while (!current) await news.next();
    for (;;) {
      const left = waitMs - (clock.monotonic() - began);
      const final = left <= 0;
      const results = evaluation.results({
        nowMs: clock.now(),
        final,
        ...(world && { world: await look(world, expectations) }),
      });
      if (final || results.every(({ status }) => status !== 'pending'))
        return { passed: results.every(isFine), results, durationMs: clock.monotonic() - began };
      const nap = new AbortController();
      const slept = clock.sleep(Math.min(left, LOOK_MS), nap.signal).catch(() => undefined);
      await Promise.race([news.next(), slept]);
      nap.abort();
    }
  } finally {
    stop.abort();
    await read.catch(() => undefined);
  }
}

function isFine({ status, expectation }: ExpectationResult): boolean {
  return status === 'passed' || expectation.optional;
}

/** Counting leaks reads the mount table, and records are many: only what is asked for. */
async function look(world: WorldView, expectations: readonly Expectation[]): Promise<WorldSnapshot> {
  const asks = (kind: Expectation['kind']) => expectations.some((expectation) => expectation.kind === kind);
  return {
    ...(asks('eventually') && { volumes: await world.volumes() }),
    ...(asks('leak') && { leaks: await world.leaks() }),
  };
}

/** Wakes the one who waits; what is told while nobody does is kept. */
class News {
  private told = false;
  private failure: { error: unknown } | undefined;
  private wake: (() => void) | undefined;

  tell(): void {
    this.told = true;
    this.wake?.();
  }

  fail(error: unknown): void {
    this.failure = { error };
    this.tell();
  }

  async next(): Promise<void> {
    if (!this.told)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    this.told = false;
    if (this.failure) throw this.failure.error;
  }
}
