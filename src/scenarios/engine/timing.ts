import type { Cron } from 'croner';
import type { After, Window } from '../model';
import type { KeyMiss } from './facts';

/** `after: 30s`, or so long after an event. */
export function testAfter(after: After, eventAt: number | undefined, now: number): KeyMiss | undefined {
  const what = after.event ?? 'armed';
  const wanted = `${after.delayMs} ms after ${what}`;
  if (eventAt === undefined) return { key: 'when.after', found: `not ${what} yet`, wanted };
  if (now - eventAt >= after.delayMs) return undefined;
  return { key: 'when.after', found: `${Math.round(now - eventAt)} ms`, wanted };
}

/** Tells in which part of a window the time lies. Cron patterns are parsed once. */
export class WindowTest {
  private readonly cron: Cron | undefined;

  constructor(private readonly window: Window) {
    if (window.kind !== 'cron') return;
    const { Cron } = require('croner') as typeof import('croner');
    this.cron = new Cron(window.cron, { timezone: 'UTC', paused: true });
  }

  /** @param now wall time. @param armedAt the same, of the arming, from which a duty cycle counts. */
  test(now: number, armedAt: number): KeyMiss | undefined {
    const { window } = this;
    if (window.kind === 'duty') {
      const { upMs, downMs } = window;
      const phase = (now - armedAt) % (upMs + downMs);
      if (phase >= upMs) return undefined;
      return {
        key: 'when.window',
        found: `up for another ${Math.round(upMs - phase)} ms`,
        wanted: `down (${upMs} ms up, ${downMs} ms down)`,
      };
    }
    if (this.cronEnd(now, window.forMs) !== undefined) return undefined;
    return {
      key: 'when.window',
      found: 'outside',
      wanted: `${window.forMs} ms from each ${window.cron}`,
    };
  }

  /** Milliseconds until the window opens or closes; undefined: never. */
  untilChange(now: number, armedAt: number): number | undefined {
    const { window } = this;
    if (window.kind === 'duty') {
      const { upMs, downMs } = window;
      const phase = (now - armedAt) % (upMs + downMs);
      return (phase < upMs ? upMs : upMs + downMs) - phase;
    }
    const at = this.cronEnd(now, window.forMs) ?? this.cron?.nextRun(new Date(now))?.getTime();
    return at === undefined ? undefined : at - now;
  }

  /** When the window closes that is open now. */
  private cronEnd(now: number, forMs: number): number | undefined {
    // The pattern names whole seconds, and the moment itself belongs to the window.
    const [last] = this.cron?.previousRuns(1, new Date(now + 1_000)) ?? [];
    const from = last?.getTime();
    return from !== undefined && from <= now && now < from + forMs ? from + forMs : undefined;
  }
}

/** Milliseconds until the time that `after` names; undefined when it has come, or its event has not. */
export function untilAfter(after: After, eventAt: number | undefined, now: number): number | undefined {
  const left = eventAt === undefined ? 0 : after.delayMs - (now - eventAt);
  return left > 0 ? left : undefined;
}

/** When each volume came into each state, for `after: {event: …}`. */
export class EventTimes {
  private readonly byKey = new Map<string, Map<string, number>>();

  note(key: string, event: string, at: number): void {
    const times = this.byKey.get(key) ?? new Map<string, number>();
    this.byKey.set(key, times.set(event, at));
  }

  of(key: string, event: string): number | undefined {
    return this.byKey.get(key)?.get(event);
  }

  forget(key: string): void {
    this.byKey.delete(key);
  }

  clear(): void {
    this.byKey.clear();
  }
}
