import type { ConformanceBench, Kind } from './bench';
import type { Falsified } from './falsify';

/** One way in which a driver is wrong, and the case that has to find it. */
export interface Mutation {
  readonly id: string;
  /** What the driver does. */
  readonly wrong: string;
  /** The honest driver for which the case applies; default: all. */
  readonly kind?: Kind;
  /** What makes the case apply to the honest driver. */
  readonly honest?: (bench: ConformanceBench) => Falsified;
  readonly lies: (bench: ConformanceBench) => Falsified;
}
