import type { Method } from '../csi/rpcs';
import type { ProcessControl } from '../scenarios/engine/actions/action';
import type { FaultGate, GateCall } from '../server/gate';
import type { ProcessHooks } from '../server/process-control';
import type { Clock } from '../util/clock';

/** A step of the work takes milliseconds. */
const QUIET_MS = 2_000;

/**
 * One driver's time between a start and an end. The driver shares its process with the test, so that it can neither be
 * killed nor stopped: instead its calls go no further than the next place where a rule may act, and its clock wakes
 * nobody any more.
 */
export class Life {
  private isOver = false;
  private stopped: Promise<void> | undefined;
  /** Calls that are between two of those places, at work. */
  private readonly working = new Set<GateCall>();
  private readonly waiting = new Set<() => void>();
  private readonly sleeping = new Set<AbortController>();

  /** @param outerTimers what the driver waits by for something that is no call's. */
  constructor(
    private readonly outer: Clock,
    private readonly exited: (code: number) => void,
    private readonly outerTimers = outer,
  ) {}

  /** From here on nothing goes on by itself. Resolves when no call is at work: what it has begun is done. */
  async end(): Promise<void> {
    this.isOver = true;
    for (const timer of this.sleeping) timer.abort();
    this.sleeping.clear();
    if (this.working.size === 0) return;
    const patience = new AbortController();
    const quiet = new Promise<void>((resolve) => this.waiting.add(resolve));
    // Work that sleeps on our clock never ends.
    await Promise.race([quiet, this.outer.sleep(QUIET_MS, patience.signal).catch(() => undefined)]);
    patience.abort();
  }

  /** Never wakes a sleeper of a life that is over. */
  readonly clock: Clock = this.ending(() => this.outer);
  /** The same, beside the calls. */
  readonly timers: Clock = this.ending(() => this.outerTimers);

  private ending(outer: () => Clock): Clock {
    return {
      now: () => outer().now(),
      monotonic: () => outer().monotonic(),
      sleep: async (ms, signal) => {
        if (this.isOver) return forever();
        const timer = new AbortController();
        const abort = () => timer.abort(signal?.reason);
        if (signal?.aborted) abort();
        signal?.addEventListener('abort', abort, { once: true });
        this.sleeping.add(timer);
        try {
          await outer().sleep(ms, timer.signal);
        } catch (error) {
          if (this.isOver && !signal?.aborted) return forever();
          throw error;
        } finally {
          this.sleeping.delete(timer);
          signal?.removeEventListener('abort', abort);
        }
      },
    };
  }

  /** What rules may do to the process: to this life, since the process is the test's. */
  processControl = ({ save, closeSocket }: ProcessHooks): ProcessControl => ({
    exit: async (code) => {
      await save();
      if (!this.isOver) this.exited(code);
      return forever();
    },
    stopFor: async (ms) => {
      await save();
      const until = this.clock.sleep(ms);
      this.stopped = until;
      await until;
      if (this.stopped === until) this.stopped = undefined;
    },
    closeSocket,
  });

  /** Calls stand still here while the process is stopped, and for ever when it is over. */
  aroundGate = (gate: FaultGate): FaultGate => ({
    before: async (call) => {
      await this.pause();
      const answer = await gate.before(call);
      await this.goOn(call as GateCall);
      return answer;
    },
    after: async <M extends Method>(call: GateCall<M>, response: Parameters<typeof gate.after<M>>[1]) => {
      this.rest(call as GateCall);
      await this.pause();
      const answer = await gate.after(call, response);
      await this.goOn(call as GateCall);
      return answer;
    },
    point: async (call, name) => {
      this.rest(call);
      await this.pause();
      await gate.point(call, name);
      await this.goOn(call);
    },
    disk: async (call, target) => gate.disk?.(call, target),
    ended: (call, code) => {
      this.rest(call);
      if (!this.isOver) gate.ended?.(call, code);
    },
  });

  private async pause(): Promise<void> {
    if (this.isOver) return forever();
    while (this.stopped) await this.stopped;
  }

  private async goOn(call: GateCall): Promise<void> {
    await this.pause();
    this.working.add(call);
  }

  private rest(call: GateCall): void {
    this.working.delete(call);
    if (this.working.size > 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}

/** Whoever waits for it is never heard of again, and is collected with what it holds. */
function forever(): Promise<never> {
  return new Promise(() => undefined);
}
