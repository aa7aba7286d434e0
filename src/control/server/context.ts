import { Timeline } from '../../journal/timeline';
import type { Driver } from '../../server/driver';
import type { CallMetrics } from './call-metrics';
import type { Peers } from './peers';

/** Where this process can be reached. */
export interface Places {
  readonly socket: string | undefined;
  readonly url: string | undefined;
}

/** What handlers work with. */
export interface Context {
  readonly driver: Driver;
  readonly timeline: Timeline;
  readonly peers: Peers;
  readonly metrics: CallMetrics;
  /** ISO 8601. */
  readonly startedAt: string;
  places(): Places;
  /** A short name that nobody has yet. */
  freshName(): string;
}

export function timelineOf(driver: Driver): Timeline {
  const { env, journal, processName } = driver;
  return new Timeline({
    folder: env.layout.journal,
    clock: env.clock,
    live: { process: processName, journal },
  });
}
