import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import type { Seeded } from './seeded';

export interface InformersOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly seeded: Seeded;
  /** Of the process: what is drawn for it. */
  readonly name: string;
  readonly signal: AbortSignal;
}

/** client-go's reflector: each pause is drawn between the value and twice of it. */
const RELIST_START_MS = 800;
const RELIST_MAX_MS = 30_000;

/**
 * The watches of one process. When the API server ends they break, and the process goes on with what it knew; when it is
 * back each process finds that out with its own next try, up to a minute later after a long absence.
 */
export class Informers {
  private synced = true;
  private brokenAt = 0;
  private breaks = 0;
  private isTrying = false;
  /** clock.now() of the last time that they were filled anew; 0: not since they were made. */
  syncedAt = 0;

  constructor(private readonly options: InformersOptions) {
    const { api, signal } = options;
    this.look();
    const unwatch = api.watch(() => this.look());
    signal.addEventListener('abort', unwatch, { once: true });
  }

  /** Whether what changes in the API server is heard of. */
  get areSynced(): boolean {
    return this.synced;
  }

  /** Whether a change of that moment (clock.now()) was heard of. */
  haveHeardOf(moment: number): boolean {
    return this.synced || moment <= this.brokenAt;
  }

  private look(): void {
    const { api, clock } = this.options;
    if (api.isDown && this.synced) {
      this.synced = false;
      this.brokenAt = clock.now();
      this.breaks += 1;
    } else if (!api.isDown && !this.synced && !this.isTrying) void this.sync();
  }

  /** At the next try. Those before it found nobody, and are not played one by one. */
  private async sync(): Promise<void> {
    const { api, clock, signal } = this.options;
    this.isTrying = true;
    await clock.sleep(this.nextTry() - clock.now(), signal).catch(() => undefined);
    this.isTrying = false;
    if (signal.aborted || api.isDown) return;
    this.synced = true;
    this.syncedAt = clock.now();
    api.changed();
  }

  private nextTry(): number {
    const { clock, seeded, name } = this.options;
    let moment = this.brokenAt;
    for (let tries = 0; moment < clock.now() || tries === 0; tries++) {
      const pause = Math.min(RELIST_MAX_MS, RELIST_START_MS * 2 ** tries);
      moment += seeded.jittered(pause, 1, `relist ${name} ${this.breaks} ${tries}`);
    }
    return moment;
  }
}
