import { Code, CsiError } from '../../src/csi/status';
import type { DriverLike } from '../support/lifecycle';
import { type Action, BelievedVolume, type BelievedVolumeOptions, type Snapshot } from './believed-volume';
import { write } from './contents';
import type { Draws } from './draws';

export interface VolumeUserOptions extends BelievedVolumeOptions {
  readonly draws: Draws;
  /** The driver as it runs now. */
  driver(): DriverLike;
}

const HISTORY = 25;
/** Overhead of a filesystem of these sizes, its journal included, is below this part. */
const USABLE = 0.7;

/** These say nothing of what was done; the CO must go on as if it could be either. */
const UNSURE: readonly number[] = [Code.UNAVAILABLE, Code.ABORTED, Code.DEADLINE_EXCEEDED, Code.CANCELLED];

const isUnsure = (error: unknown): boolean =>
  error instanceof CsiError && (UNSURE.includes(error.code) || error.message.includes('[scenario '));

/** A CO with one volume: moves it up and down, writes and verifies, and after a cut-off call repeats or undoes it. */
export class VolumeUser {
  private readonly believed: BelievedVolume;
  private unsure: Action | undefined;
  private readonly history: string[] = [];

  constructor(
    private readonly options: VolumeUserOptions,
    source?: Snapshot,
  ) {
    this.believed = new BelievedVolume(options, source);
  }

  /** Nothing is left for it to do. */
  get isGone(): boolean {
    return !this.unsure && this.believed.isGone;
  }

  /** The next thing that a CO might do. @throws Error when the driver was wrong, with all that led to it. */
  async step(): Promise<void> {
    const { draws } = this.options;
    await this.told(async () => {
      if (this.unsure) return this.goOn(draws.chance(0.35));
      if (this.believed.isOver && this.believed.level === 'absent') return;
      if (this.believed.level === 'published' && draws.chance(0.5)) return this.usePublished();
      if (this.believed.level !== 'absent' && draws.chance(0.15))
        return this.perform(draws.one(this.believed.asides()));
      const up =
        this.believed.level === 'absent' || (this.believed.level !== 'published' && draws.chance(0.7));
      await this.perform(up ? this.believed.up() : this.believed.down());
    });
  }

  /** One step back to nothing. */
  async stepDown(): Promise<void> {
    await this.told(async () => {
      if (this.unsure) return this.goOn(false);
      const [snapshot] = this.believed.snapshots.filter(({ wanted }) => wanted === 0);
      if (snapshot) return this.perform(this.believed.dropSnapshot(snapshot));
      if (this.believed.level !== 'absent') return this.perform(this.believed.down());
      this.believed.letGoOfSource();
    });
  }

  private async told(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { name, kind } = this.options;
      throw new Error(
        `volume ${name} (${kind.name}), believed ${this.believed.level}: ${(error as Error).message}\nbefore it: ${this.history.join(', ')}`,
        { cause: error },
      );
    }
  }

  private async goOn(changesItsMind: boolean): Promise<void> {
    const action = this.unsure as Action;
    const { tally } = this.options;
    if (changesItsMind && action.undo) {
      tally.undone += 1;
      return this.perform(action.undo());
    }
    tally.repeated += 1;
    await this.perform(action);
  }

  /** The action is the CO's belief from now on, whatever was under way before. */
  private async perform(action: Action): Promise<void> {
    const { tally, driver } = this.options;
    tally.calls += 1;
    this.unsure = action;
    try {
      await action.call(driver());
      this.unsure = undefined;
      this.note(action.name);
    } catch (error) {
      if (!isUnsure(error)) throw new Error(`${action.name}: ${(error as Error).message}`, { cause: error });
      tally.cutOff += 1;
      this.note(`${action.name} (${(error as CsiError).codeName})`);
    }
  }

  private note(what: string): void {
    this.history.push(what);
    if (this.history.length > HISTORY) this.history.shift();
  }

  private async usePublished(): Promise<void> {
    const { kind, draws, driver, tally } = this.options;
    if (draws.chance(0.6)) {
      this.believed.contents = await write(
        this.believed.volume.target,
        kind.block,
        draws.below(1000),
        this.believed.contents,
      );
      this.note('write');
      return;
    }
    await this.believed.verify();
    tally.calls += 1;
    const { id, target } = this.believed.volume;
    const stats = await driver()
      .csi.NodeGetVolumeStats({ volume_id: id, volume_path: target })
      .catch((error) => {
        if (isUnsure(error)) return undefined;
        throw error;
      });
    const total = Number(stats?.usage.find(({ unit }) => unit === 1)?.total ?? 0);
    if (!stats || this.believed.nodeMustGrow || kind.name === 'directory') return;
    if (total < this.believed.size * USABLE)
      throw new Error(`NodeGetVolumeStats: ${total} bytes of ${this.believed.size}`);
  }
}
