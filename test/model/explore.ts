import fc from 'fast-check';
import { type Ground, sequences } from './arbitrary';
import { Bench, type BenchOptions } from './bench';
import { minimise } from './minimise';
import type { Step } from './operations';
import { Contradiction, Play, Tally } from './play';

/** Trials that a failing sequence is made shorter with. */
const TRIALS = 300;
/** What fails with calls of one moment may fail in one of their orders only, which the machine chooses. */
const PLAYS_OF_A_RACE = 6;

export interface Exploration {
  seed: number;
  /** Sequences to play. */
  runs: number;
  /** Plays one sequence again, of those that the seed makes. */
  path?: string;
  /** No further sequence begins when so many milliseconds have passed. */
  withinMs?: number;
  /** No further sequence begins when so many calls have been made. */
  calls?: number;
  /** No further sequence begins when it has aborted. */
  stop?: AbortSignal;
  progress?(tally: Tally): void;
}

export interface Failure {
  /** The calls of the shortest failing sequence that was found, their answers, and what is wrong. */
  message: string;
  steps: Step[];
  /** How to play the long one again: a seed and a path. */
  replay: string;
}

/** Plays random sequences against a driver; the first one that fails is made as short as can be. */
export async function explore(
  options: Omit<BenchOptions, 'plugin'>,
  ground: Ground,
  how: Exploration,
): Promise<{ tally: Tally; failure: Failure | undefined }> {
  const tally = new Tally();
  const stage = new Stage({ ...options, plugin: ground.plugin });
  const began = performance.now();
  const isOver = () =>
    performance.now() - began > (how.withinMs ?? Infinity) ||
    tally.calls >= (how.calls ?? Infinity) ||
    how.stop?.aborted === true;
  const property = fc.asyncProperty(sequences(ground), async (steps) => {
    if (isOver()) fc.pre(false);
    await stage.play(steps, tally);
    how.progress?.(tally);
  });
  try {
    const result = await fc.check(property, {
      seed: how.seed,
      numRuns: how.runs,
      endOnFailure: true,
      // All that come after the end are skipped: the first one that is ends it.
      maxSkipsPerRun: 0,
      ...(how.path !== undefined && { path: how.path }),
    });
    const failing = result.counterexample?.[0];
    if (!failing) return { tally, failure: undefined };
    const first = contradiction(result.errorInstance);
    let message = first.message;
    const plays = failing[first.taken - 1]?.kind === 'together' ? PLAYS_OF_A_RACE : 1;
    const trial = async (steps: Step[]) => {
      for (let play = 0; play < plays; play += 1)
        try {
          await stage.play(steps, new Tally());
        } catch (error) {
          const found = contradiction(error);
          message = found.message;
          return found.taken;
        }
      return undefined;
    };
    const steps = await minimise(failing.slice(0, first.taken), trial, TRIALS);
    const replay = `seed ${result.seed}, path ${result.counterexamplePath}, from ${failing.length} steps to ${steps.length}`;
    return { tally, failure: { message, steps, replay } };
  } finally {
    await stage.close();
  }
}

function contradiction(error: unknown): Contradiction {
  if (error instanceof Contradiction) return error;
  throw error;
}

/** One driver for sequence after sequence; a new one after each that failed. */
class Stage {
  private bench: Bench | undefined;
  private names: Bench['names'] | undefined;

  constructor(private readonly options: BenchOptions) {}

  async play(steps: Step[], tally: Tally): Promise<void> {
    this.bench ??= await Bench.start(this.options, this.names);
    this.names = this.bench.names;
    try {
      await new Play(this.bench, tally).run(steps);
    } catch (error) {
      // What it left is not to be met by the next one.
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { bench } = this;
    this.bench = undefined;
    await bench?.close();
  }
}
