import type { Clock } from '../../util/clock';
import { SIDECAR_RETRY_MAX_MS, SIDECAR_RETRY_START_MS } from '../constants';

export interface WorkState {
  readonly key: string;
  isBusy: boolean;
  failures: number;
  lastError: Error | undefined;
  retryAt: number;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A pause is over, or work has ended. */
  changed(): void;
}

/** The retries of a sidecar: one piece of work a key at a time, after failures 1, 2, 4 … seconds apart, at most 5 min. */
export class WorkQueue {
  private readonly states = new Map<string, WorkState>();

  constructor(private readonly options: WorkQueueOptions) {}

  get(key: string): WorkState | undefined {
    return this.states.get(key);
  }

  /** Does the work, unless the same is being done or waits after a failure. */
  offer(key: string, work: () => Promise<void>): void {
    const { clock, changed, signal } = this.options;
    const state = this.states.get(key) ?? {
      key,
      isBusy: false,
      failures: 0,
      lastError: undefined,
      retryAt: 0,
    };
    if (state.isBusy || clock.now() < state.retryAt) return;
    this.states.set(key, state);
    state.isBusy = true;
    work().then(
      () => {
        this.states.delete(key);
        changed();
      },
      (error: unknown) => {
        if (signal.aborted) return;
        state.isBusy = false;
        state.failures += 1;
        state.lastError = error instanceof Error ? error : new Error(String(error));
        const pause = Math.min(SIDECAR_RETRY_MAX_MS, SIDECAR_RETRY_START_MS * 2 ** (state.failures - 1));
        state.retryAt = clock.now() + pause;
        clock.sleep(pause, signal).then(changed, () => undefined);
        changed();
      },
    );
  }
}
