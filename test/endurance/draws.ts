/** A stream of draws from a seed (mulberry32): what a run did is done again by the same seed, as far as timing allows. */
export class Draws {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  /** A generator of its own: what one user draws changes nothing for the others. */
  fork(): Draws {
    return new Draws(this.below(2 ** 32));
  }
}
