import { Cron } from 'croner';
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
    if (window.kind === 'cron') this.cron = new Cron(window.cron, { timezone: 'UTC', paused: true });
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
    // The pattern names whole seconds, and the moment itself belongs to the window.
    const [last] = this.cron?.previousRuns(1, new Date(now + 1_000)) ?? [];
    const from = last?.getTime();
    if (from !== undefined && from <= now && now < from + window.forMs) return undefined;
    return {
      key: 'when.window',
      found: 'outside',
      wanted: `${window.forMs} ms from each ${window.cron}`,
    };
  }
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
