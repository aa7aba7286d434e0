import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock';

/** Real work that takes longer is stuck: nothing that runs under virtual time waits for the real one. */
const STUCK_MS = 60_000;

/** One piece of work. It holds the only turn there is, except while it sleeps. */
class Turn {
  isOver = false;
  holds = false;
}

/**
 * Real work under virtual time: file access, a driver in this process. One piece goes on at a time, each until it ends or
 * sleeps on the clock, so that the order of what happens never depends on the machine; and while one goes on, time stands
 * still (`idle`).
 */
export class Turns {
  private readonly current = new AsyncLocalStorage<Turn>();
  private holder: Turn | undefined;
  private readonly queue: { turn: Turn; begin: () => void }[] = [];
  private readonly waiting = new Set<() => void>();

  /** Real work of those that sleep beside it, such as a call that is given so much time. */
  private tracked = 0;

  get isBusy(): boolean {
    return this.holder !== undefined || this.tracked > 0;
  }

  /** Time stands still until this has ended, whoever has the turn. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.tracked += 1;
    try {
      return await work;
    } finally {
      this.tracked -= 1;
      this.tell();
    }
  }

  /** Does `work` when its turn comes. `abandon` ends its turn early: for work that will never end. */
  start<T>(work: () => Promise<T>): { done: Promise<T>; abandon: () => void } {
    const turn = new Turn();
    const done = this.current.run(turn, async () => {
      await this.take(turn);
      try {
        return await work();
      } finally {
        this.end(turn);
      }
    });
    return { done, abandon: () => this.end(turn) };
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.start(work).done;
  }

  /** Resolves when nobody works: all work has ended, or sleeps. @throws Error when work never ends */
  async idle(): Promise<void> {
    if (!this.isBusy) return;
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<never>((_, reject) => {
      const message = `work under virtual time did not end within ${STUCK_MS / 1000} s: it waits for something that is no part of it`;
      timer = setTimeout(() => reject(new Error(message)), STUCK_MS);
    });
    const quiet = new Promise<void>((resolve) => this.waiting.add(resolve));
    await Promise.race([quiet, stuck]).finally(() => clearTimeout(timer));
  }

  /** The clock for those that work here: whoever sleeps lets others have the turn, and waits for it again. */
  clock(inner: Clock): Clock {
    return {
      now: () => inner.now(),
      monotonic: () => inner.monotonic(),
      sleep: async (ms, signal) => {
        const turn = this.current.getStore();
        if (!turn?.holds) return inner.sleep(ms, signal);
        this.release(turn);
        try {
          await inner.sleep(ms, signal);
        } finally {
          await this.take(turn);
        }
      },
    };
  }

  private async take(turn: Turn): Promise<void> {
    if (turn.isOver || turn.holds) return;
    if (this.holder !== undefined) {
      // `release` hands it over.
      await new Promise<void>((begin) => this.queue.push({ turn, begin }));
      return;
    }
    this.holder = turn;
    turn.holds = true;
  }

  private release(turn: Turn): void {
    if (!turn.holds) return;
    turn.holds = false;
    this.holder = undefined;
    for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) {
      if (next.turn.isOver) {
        next.begin();
        continue;
      }
      next.turn.holds = true;
      this.holder = next.turn;
      next.begin();
      return;
    }
    this.tell();
  }

  private tell(): void {
    if (this.isBusy) return;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  private end(turn: Turn): void {
    turn.isOver = true;
    this.release(turn);
  }
}
