import type { Clock } from '../util/clock';
import type { Turns } from '../util/turns';
import type { VirtualClock } from '../util/virtual-clock';

/** Lets time pass until something is so. */
export interface TimeKeeper {
  readonly clock: Clock;
  /** Others act on the node, too, and the clock is the machine's. */
  readonly isReal: boolean;
  /** @returns whether it came true within `limitMs` */
  runUntil(done: () => boolean, limitMs: number): Promise<boolean>;
}

/**
 * Virtual time: it passes only when nobody has anything to do. Sleepers wake one at a time, and all that follows from one
 * happens before the next.
 */
export function virtualTime(clock: VirtualClock, turns: Turns): TimeKeeper {
  const quiet = async () => {
    await settled();
    while (turns.isBusy) {
      await turns.idle();
      await settled();
    }
  };
  return {
    clock,
    isReal: false,
    runUntil: async (done, limitMs) => {
      const end = clock.monotonic() + limitMs;
      for (;;) {
        await quiet();
        if (done()) return true;
        const next = clock.untilNext;
        const left = end - clock.monotonic();
        if (next === undefined || next > left) {
          clock.pass(left);
          return done();
        }
        clock.wakeNext();
      }
    },
  };
}

const REAL_POLL_MS = 50;

export function realTime(clock: Clock): TimeKeeper {
  return {
    clock,
    isReal: true,
    runUntil: async (done, limitMs) => {
      const end = clock.now() + limitMs;
      while (!done()) {
        if (clock.now() >= end) return false;
        await clock.sleep(Math.min(REAL_POLL_MS, Math.max(1, end - clock.now())));
      }
      return true;
    },
  };
}

/** What is ready to run has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
