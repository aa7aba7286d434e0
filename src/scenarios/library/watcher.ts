import { type FSWatcher, watch } from 'node:fs';

/** Watching may miss a change (some mounts tell of none); this finds it. */
const LOOK_EVERY_MS = 2_000;
/** Editors and ConfigMap updates change several names at once. */
const SETTLE_MS = 30;

/** Has a look taken soon after something changed in one of some places, and now and then in any case. */
export class Watcher {
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined;
  private settling: NodeJS.Timeout | undefined;

  constructor(private readonly look: () => void) {}

  /** Watches these from now on, those of before as well. What is not there yet can be given again later. */
  watch(places: Iterable<string>): void {
    for (const place of places) if (!this.watchers.has(place)) this.add(place);
    if (this.timer) return;
    this.timer = setInterval(this.look, LOOK_EVERY_MS);
    this.timer.unref();
  }

  private add(place: string): void {
    try {
      const watcher = watch(place, { persistent: false }, () => this.soon());
      watcher.on('error', () => {
        watcher.close();
        this.watchers.delete(place);
      });
      this.watchers.set(place, watcher);
    } catch {
      // Not everything can be watched; looking now and then finds it.
    }
  }

  private soon(): void {
    this.settling ??= setTimeout(() => {
      this.settling = undefined;
      this.look();
    }, SETTLE_MS);
    this.settling.unref();
  }

  stop(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
    clearInterval(this.timer);
    clearTimeout(this.settling);
  }
}
