/**
 * Lets at most `width` tasks run at once; the rest wait in order of arrival. A system call in libuv's thread pool
 * cannot be taken back, so a hung mount keeps its thread: the width must stay below the pool's size, or hung
 * mounts would stop every file read of the process.
 */
export class Limiter {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(readonly width: number) {
    if (!Number.isInteger(width) || width < 1) {
      throw new RangeError(`a limiter's width is a whole number of at least 1, not ${width}`);
    }
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.running < this.width) this.running++;
    // A finishing task hands its place over without giving it up: nobody who arrives meanwhile can overtake.
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}
