import type { Log } from '../../util/log';
import type { Switches, SwitchesFile } from './switches';

export interface SharedMachinesOptions {
  switches: SwitchesFile;
  log: Log;
  /** Another process put a machine into another state. */
  adopt(scenario: string, states: Readonly<Record<string, string>>): void;
}

/** States of machines, which every process that shares the data folder has to see alike. */
export class SharedMachines {
  /** Of the scenarios that are loaded, by name. */
  private fingerprints = new Map<string, string>();
  /** How many tellings of a machine are under way: what the file says of it meanwhile is older than what is here. */
  private readonly telling = new Map<string, number>();
  private told: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: SharedMachinesOptions) {}

  /** These are loaded now. One that was not before takes the states that others have brought its machines into. */
  loaded(fingerprints: Map<string, string>, seen: Switches): void {
    const before = this.fingerprints;
    this.fingerprints = fingerprints;
    for (const [name, fingerprint] of fingerprints)
      if (before.get(name) !== fingerprint) this.options.adopt(name, seen.machines[fingerprint] ?? {});
  }

  /** Takes what changed between two readings of the file. */
  take(before: Switches, now: Switches): void {
    for (const [name, fingerprint] of this.fingerprints) {
      const known = before.machines[fingerprint] ?? {};
      const changed = Object.entries(now.machines[fingerprint] ?? {}).filter(
        ([machine, state]) => known[machine] !== state && !this.telling.has(`${fingerprint} ${machine}`),
      );
      this.options.adopt(name, Object.fromEntries(changed));
    }
  }

  /** A rule, or a person, put a machine into another state here. */
  tell(scenario: string, machine: string, state: string): void {
    const fingerprint = this.fingerprints.get(scenario);
    if (fingerprint === undefined) return;
    const key = `${fingerprint} ${machine}`;
    this.telling.set(key, (this.telling.get(key) ?? 0) + 1);
    // One after the other: the last state has to be the last that is told.
    this.told = this.told
      .then(() =>
        this.options.switches.change((switches) => {
          switches.machines[fingerprint] = { ...switches.machines[fingerprint], [machine]: state };
        }),
      )
      .catch((error: unknown) => {
        this.options.log.error(
          { scenario, machine, state, error: String(error) },
          'other processes cannot be told of the state of a machine',
        );
      })
      .finally(() => {
        const left = (this.telling.get(key) ?? 1) - 1;
        if (left > 0) this.telling.set(key, left);
        else this.telling.delete(key);
      });
  }

  /** All of them, or those of one scenario, begin anew. */
  forget(switches: Switches, scenario?: string): void {
    if (scenario === undefined) switches.machines = {};
    else delete switches.machines[this.fingerprints.get(scenario) ?? ''];
  }

  /** Resolves when everybody has been told. */
  async settled(): Promise<void> {
    await this.told;
  }
}
