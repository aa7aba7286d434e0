import type { Rule } from '../model';

/** How often a rule was asked and fired for one key. */
export interface Count {
  /** Calls that matched, at a time and in a state that the rule acts in. */
  seen: number;
  fired: number;
  /** Fires of each stage. */
  stages: number[];
}

/** As it is kept between two lives of a process. */
export type SavedCounts = Record<string, Count>;

/** The counters of one rule: one for each volume, pod or node it counts by. */
export class Counters {
  private readonly counts = new Map<string, Count>();
  /** Fires under all keys, those that are forgotten included. */
  fired = 0;

  constructor(private readonly rule: Rule) {}

  of(key: string): Count {
    let count = this.counts.get(key);
    if (!count) {
      count = { seen: 0, fired: 0, stages: this.rule.stages.map(() => 0) };
      this.counts.set(key, count);
    }
    return count;
  }

  /** The volume is deleted: one of the same name is another one, and a long-lived driver must not count for ever. */
  forget(key: string): void {
    this.counts.delete(key);
  }

  reset(): void {
    this.counts.clear();
    this.fired = 0;
  }

  save(): SavedCounts {
    return Object.fromEntries(this.counts);
  }

  restore(saved: SavedCounts): void {
    for (const [key, count] of Object.entries(saved))
      this.counts.set(key, {
        seen: count.seen,
        fired: count.fired,
        stages: this.rule.stages.map((_, index) => count.stages[index] ?? 0),
      });
    this.fired = [...this.counts.values()].reduce((sum, { fired }) => sum + fired, 0);
  }
}
