import { KINDS, type Kind } from '../support/kinds';
import type { DriverLike } from '../support/lifecycle';
import type { Snapshot, Tally } from './believed-volume';
import type { Draws } from './draws';
import { VolumeUser } from './volume-user';

const { ext4, xfs, block, tmpfs, directory } = KINDS;
const PLAYED: readonly Kind[] = [ext4, xfs, block, tmpfs, directory];

/** Steps back to nothing take at most this many, however many of them are cut off. */
const MOST_STEPS_DOWN = 2000;

/** All volumes of a run, each with a user of its own. */
export class Users {
  readonly tally: Tally = { calls: 0, cutOff: 0, repeated: 0, undone: 0, verified: 0 };
  private users: VolumeUser[] = [];
  private named = 0;

  /** @param most users at a time, those of restored snapshots included. */
  constructor(
    private readonly draws: Draws,
    private readonly most: number,
    private readonly driver: () => DriverLike,
  ) {}

  /** A user for every place that is free, but for a third of them: those are for restored volumes. */
  fill(): void {
    this.users = this.users.filter((user) => !user.isGone);
    while (this.users.length < (this.most * 2) / 3) this.add(PLAYED[this.named % PLAYED.length] as Kind);
  }

  private add(kind: Kind, source?: Snapshot): void {
    const options = {
      name: `v${this.named++}`,
      kind,
      draws: this.draws.fork(),
      tally: this.tally,
      driver: this.driver,
      restored: (snapshot: Snapshot, of: Kind) => {
        if (this.users.length >= this.most) return false;
        this.add(of, snapshot);
        return true;
      },
    };
    this.users.push(new VolumeUser(options, source));
  }

  /** Every user goes on by itself until `over`. @throws Error of the first that found the driver wrong. */
  async goOn(over: () => boolean): Promise<void> {
    await Promise.all(
      this.users.map(async (user) => {
        while (!over()) {
          await user.step();
          // What needs no call must not keep the others waiting.
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
  }

  /** Everything is taken back and deleted. */
  async finish(): Promise<void> {
    for (let steps = 0; this.users.some((user) => !user.isGone); steps++) {
      if (steps > MOST_STEPS_DOWN) throw new Error('volumes were not gone after 2000 steps of teardown');
      await Promise.all(this.users.map((user) => user.stepDown()));
      this.users = this.users.filter((user) => !user.isGone);
    }
  }
}
