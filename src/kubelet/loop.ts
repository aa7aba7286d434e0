import type { Clock } from '../util/clock';
import { Waiting } from './poll';

export interface LoopOptions {
  clock: Clock;
  periodMs: number;
  signal: AbortSignal;
  /**
   * One turn. @returns the moment (clock.now()) from which on it has to look again whatever happens; undefined when only
   * a change can give it something to do.
   */
  turn(now: number): number | undefined;
}

/**
 * A loop that turns every `periodMs`, except that turns which could change nothing are left out: after one it waits for a
 * poke or for the moment that it named itself, and goes on at the next multiple of its period.
 */
export class Loop {
  private poked = false;
  private wake: (() => void) | undefined;

  constructor(private readonly options: LoopOptions) {
    void this.run();
  }

  /** Something changed. */
  poke(): void {
    this.poked = true;
    this.wake?.();
  }

  private async run(): Promise<void> {
    const { clock, periodMs, signal, turn } = this.options;
    const origin = clock.now();
    try {
      while (!signal.aborted) {
        const began = clock.now();
        this.poked = false;
        const due = turn(began);
        await this.until(due);
        const passed = Math.max(clock.now() - origin, began - origin + 1);
        const next = origin + Math.ceil(passed / periodMs) * periodMs;
        await clock.sleep(next - clock.now(), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async until(due: number | undefined): Promise<void> {
    if (this.poked || (due !== undefined && due <= this.options.clock.now())) return;
    const { clock, signal } = this.options;
    await new Waiting(clock, signal).until(due, (end) => {
      this.wake = end;
    });
    this.wake = undefined;
  }
}
