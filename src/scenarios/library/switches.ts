import * as path from 'node:path';
import type { Host } from '../../host/host';
import { lockSoon } from '../../host/lock-soon';
import type { Clock } from '../../util/clock';
import { readIfThere, writeFileAtomic } from '../../util/files';

/** What people switched, for every process that shares the data folder: each reads it and does as it says. */
export interface Switches {
  version: 1;
  /** `at` is when; without `armed` it was put then, and is armed if its text says so. */
  scenarios: Record<string, { armed?: boolean; at: string }>;
  /** How often somebody asked, by scenario, or by '' for all: of two who ask at once neither may hide the other. */
  resets: Asked;
  releases: Asked;
  /** States of machines that are no longer the initial ones: by the fingerprint of the scenario, then by machine. */
  machines: Record<string, Record<string, string>>;
}

export type Asked = Record<string, number>;

/** Somebody asks it of a scenario, or of all. */
export function ask(asked: Asked, scenario = ''): void {
  asked[scenario] = timesAsked(asked, scenario) + 1;
}

/** Of what somebody asked between two readings; all ('') come first. */
export function askedSince(before: Asked, now: Asked): string[] {
  return Object.keys(now)
    .filter((scenario) => timesAsked(now, scenario) > timesAsked(before, scenario))
    .sort();
}

/** A scenario may have the name of something that every object has. */
function timesAsked(asked: Asked, scenario: string): number {
  return Object.hasOwn(asked, scenario) ? (asked[scenario] ?? 0) : 0;
}

/** `<data-dir>/scenarios/.switches.json`. */
export class SwitchesFile {
  readonly file: string;

  constructor(
    folder: string,
    private readonly host: Pick<Host, 'lockFile'>,
    private readonly clock: Clock,
  ) {
    this.file = path.join(folder, '.switches.json');
  }

  /** A file that cannot be read says nothing: whatever it said can be said again. */
  read(): Switches {
    const empty: Switches = {
      version: 1,
      scenarios: {},
      resets: {},
      releases: {},
      machines: {},
    };
    const text = readIfThere(this.file);
    if (text === undefined) return empty;
    try {
      return { ...empty, ...(JSON.parse(text) as Switches) };
    } catch {
      return empty;
    }
  }

  /**
   * Changes it alone among all processes, and whatever else `edit` changes in the folder: two who put one scenario at
   * once must not write over each other's file. @returns what it says now.
   */
  async change(edit: (switches: Switches) => void | Promise<void>): Promise<Switches> {
    const unlock = await lockSoon(this.host, `${this.file}.lock`, this.clock);
    try {
      const switches = this.read();
      await edit(switches);
      await writeFileAtomic(this.file, `${JSON.stringify(switches)}\n`, 'process');
      return switches;
    } finally {
      await unlock();
    }
  }
}
