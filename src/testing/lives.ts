import { Life } from '../embedded/life';
import { Driver, type DriverOptions } from '../server/driver';
import type { StableClient } from './client';
import type { Fires } from './fires';
import type { Recording } from './recording';

export interface LivesOptions {
  driver: DriverOptions;
  /** Milliseconds after which a driver that a rule ended comes back; undefined: when it is asked to. */
  restartAfterMs: number | undefined;
  recording: Recording;
  fires: Fires;
  client: StableClient;
}

interface Living {
  driver: Driver;
  life: Life;
  detach(): void;
}

/** Whoever hangs because a rule says so is let go at once: what takes longer is work that does not end. */
const DRAIN_MS = 1_000;

/** One driver after another on the same data folder, socket and machine: never two at once. */
export class Lives {
  private now: Living | undefined;
  /** Changes are made one after another. */
  private turn: Promise<unknown> = Promise.resolve();
  /** A driver that comes back by itself. */
  private coming: Promise<void> | undefined;
  private failure: unknown;
  private readonly closing = new AbortController();

  constructor(private readonly options: LivesOptions) {}

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined);
    return done;
  }

  /** Undefined while it is down. */
  get current(): Driver | undefined {
    return this.now?.driver;
  }

  /** Waits for a change under way. @throws Error when it is down and does not come back by itself. */
  async driver(): Promise<Driver> {
    await this.turn;
    if (!this.now) await this.coming;
    if (this.now) return this.now.driver;
    if (this.failure !== undefined) throw this.failure;
    throw new Error(
      this.closing.signal.aborted
        ? 'the driver has been stopped: start another one with startFakeCsi()'
        : 'the driver is down: restart() starts it again',
    );
  }

  start(): Promise<void> {
    return this.inTurn(() => this.up());
  }

  private async up(): Promise<void> {
    if (this.now || this.closing.signal.aborted) return;
    const { driver: options, recording, fires, client } = this.options;
    const life = new Life(options.clock, () => this.died());
    const { driver } = await Driver.start({
      ...options,
      clock: life.clock,
      processControl: life.processControl,
      aroundGate: life.aroundGate,
      onScenarioChange: () => fires.changed(),
    });
    this.failure = undefined;
    fires.begin(driver.engine);
    const detach = recording.attach(driver.processName, driver.journal);
    this.now = { driver, life, detach };
    client.renew();
  }

  /** A rule ended the process. */
  private died(): void {
    const { restartAfterMs, driver } = this.options;
    const back = async () => {
      await this.crash();
      if (restartAfterMs === undefined) return;
      if (restartAfterMs > 0) await driver.clock.sleep(restartAfterMs, this.closing.signal);
      await this.start();
    };
    this.coming = back().catch((error: unknown) => {
      if (!this.closing.signal.aborted) this.failure = error;
    });
  }

  /** As kill -9: nothing is answered or written any more, and what calls had begun stays as it is. */
  crash(): Promise<void> {
    return this.inTurn(async () => {
      const { now } = this;
      if (!now) return;
      this.now = undefined;
      now.detach();
      const quiet = now.life.end();
      await now.driver.kill();
      await quiet;
      this.options.fires.end();
    });
  }

  private async down(): Promise<void> {
    const { now } = this;
    if (!now) return;
    this.now = undefined;
    await now.driver.stop(DRAIN_MS);
    await now.life.end();
    now.detach();
    this.options.fires.end();
  }

  /** As SIGTERM and another start; a driver that is down is started. */
  restart(): Promise<void> {
    return this.inTurn(async () => {
      await this.down();
      await this.up();
    });
  }

  /** For good. */
  async stop(): Promise<void> {
    this.closing.abort();
    await this.inTurn(() => this.down());
  }
}
