import { matchesRule } from '../journal/query';
import type { Engine } from '../scenarios/engine/engine';

/** How often rules fired, over all lives of a driver, from the moment they fire (the journal says so when a call ends). */
export class Fires {
  private readonly past = new Map<string, number>();
  private before = new Map<string, number>();
  private engine: Engine | undefined;
  private readonly listeners = new Set<() => void>();

  begin(engine: Engine): void {
    this.engine = engine;
  }

  /** The engine counts no more. */
  end(): void {
    for (const [rule, count] of this.engine?.totals ?? [])
      this.past.set(rule, (this.past.get(rule) ?? 0) + count);
    this.engine = undefined;
  }

  /** What came before does not count. */
  reset(): void {
    this.before = this.all();
  }

  private all(): Map<string, number> {
    const all = new Map(this.past);
    for (const [rule, count] of this.engine?.totals ?? []) all.set(rule, (all.get(rule) ?? 0) + count);
    return all;
  }

  /** By `scenario/rule`, in the order of the first fire. */
  counts(): Map<string, number> {
    const counts = [...this.all()].map(
      ([rule, count]) => [rule, count - (this.before.get(rule) ?? 0)] as const,
    );
    return new Map(counts.filter(([, count]) => count > 0));
  }

  /** Of all rules that a name or pattern means: `rule`, or `scenario/rule`. */
  of(pattern: string): number {
    let sum = 0;
    for (const [rule, count] of this.counts()) if (matchesRule(pattern, rule)) sum += count;
    return sum;
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** @returns the function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
