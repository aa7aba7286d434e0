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
  /** Grow by one whenever somebody asks; `what` is the scenario, or '' for all. */
  resets: { count: number; what: string };
  releases: { count: number; what: string };
  /** States of machines that are no longer the initial ones: by the fingerprint of the scenario, then by machine. */
  machines: Record<string, Record<string, string>>;
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
      resets: { count: 0, what: '' },
      releases: { count: 0, what: '' },
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
