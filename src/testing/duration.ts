import { parseDuration } from '../scenarios/language/durations';
import { failed } from '../scenarios/language/parsed';

/** `500ms`, `5s`, `2m`, `1h`, `1m30s`; or a number of milliseconds. */
export type Duration = string | number;

/** @throws TypeError naming what was given. */
export function milliseconds(duration: Duration, what: string): number {
  if (typeof duration === 'number') {
    if (Number.isFinite(duration) && duration >= 0) return duration;
    throw new TypeError(`${what}: expected milliseconds from 0 on, found ${duration}`);
  }
  const parsed = parseDuration(duration);
  if (failed(parsed)) throw new TypeError(`${what}: ${parsed.message}`);
  return parsed.value;
}
