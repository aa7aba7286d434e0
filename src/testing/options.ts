import type { EmbeddedDriverOptions } from '../embedded/driver-options';
import type { Clock } from '../util/clock';
import type { Duration } from './duration';
import type { ScenarioSource } from './scenario-source';

/** How a driver is started; everything has a default that suits a test. */
export interface StartOptions extends EmbeddedDriverOptions {
  /** Armed before the first call can come. */
  scenario?: ScenarioSource | readonly ScenarioSource[];
  /** Kept at the end. Default: a temporary folder, removed at the end. */
  dataDir?: string;
  /** Where to listen: `unix:///…/csi.sock`, at most 107 bytes (default: in a temporary folder). */
  endpoint?: string;
  /** When the driver comes back after a rule ended it (default: at once); false: when `restart()` is called. */
  restartAfter?: Duration | false;
  clock?: Clock;
}
