import type { Action } from './action';
import type { Match } from './match';
import type { Position } from './scenario';
import type { When } from './when';

export interface Rule {
  readonly name: string;
  readonly at: Position;
  /** Higher first; among equals the order of the file. The first that fires ends the search. */
  readonly priority: number;
  /** The search goes on after it fired. */
  readonly continue: boolean;
  /** It may destroy the data of the volumes it fires on. */
  readonly destructive: boolean;
  readonly match: Match;
  readonly when: When;
  /**
   * What happens, in order. For one key the first stage with fires left whose chance comes true acts; when none does,
   * the rule does not fire. `then:` gives one stage without a count, `sequence:` gives as many as it says.
   */
  readonly stages: readonly Stage[];
}

export interface Stage {
  /** Fires of this stage for one key; undefined: no end. */
  readonly count: number | undefined;
  /** 0 to 1; undefined: always. */
  readonly probability: number | undefined;
  /** In the order they are done. Empty: `ok`, nothing is done to the call, and it counts as a fire. */
  readonly steps: readonly Step[];
}

/**
 * Where in a call a step is taken.
 * `before`: without a lock, before validation; ends at the client's deadline, and then nothing was done.
 * `instead`: as `before`, and the work is not done at all.
 * `after`: the work is done and only the answer is left.
 * Anything else is a point inside the work (POINTS): the volume's own lock is held, and the client's leaving does not
 * end it, as with a driver that is busy.
 */
export type Place = 'before' | 'instead' | 'after' | (string & {});

export interface Step {
  readonly place: Place;
  readonly action: Action;
}
