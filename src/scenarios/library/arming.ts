import type { SavedScenario } from '../engine/armed';
import type { Loaded } from '../engine/scenario-set';
import type { Problem } from '../language';
import type { Scenario } from '../model';
import { fingerprintOf, type Source } from './source';
import type { Switches } from './switches';

export interface Plan {
  readonly loaded: readonly Loaded[];
  /** Names that two files use. */
  readonly clashes: readonly Problem[];
}

/** Which scenarios are loaded, which of them are armed, and since when: from their files and from what people switched. */
export class Arming {
  /** When each text that is loaded was first armed here, by fingerprint. */
  private firstArmed = new Map<string, number>();

  plan(
    sources: readonly { source: Source; resting: boolean }[],
    switches: Switches,
    saved: Readonly<Record<string, SavedScenario>>,
    now: number,
  ): Plan {
    const clashes: Problem[] = [];
    const taken = new Map<string, { file: string; resting: boolean; loaded: Loaded; first: number }>();
    for (const { source, resting } of sources)
      for (const scenario of source.scenarios) {
        const { file } = source;
        const other = taken.get(scenario.name);
        if (!other) {
          const enabled = scenario.enabled && !resting;
          taken.set(scenario.name, {
            file,
            resting,
            ...this.state(scenario, enabled, switches, saved, now),
          });
        } else if (other.file !== file && other.resting === resting)
          clashes.push(
            problemOf(
              file,
              `the name "${scenario.name}" is used already by ${other.file}; rename one of them`,
            ),
          );
      }
    const all = [...taken.values()];
    // One that is gone, or says something else now, has no past: if it comes again, it begins anew.
    this.firstArmed = new Map(all.map(({ loaded, first }) => [loaded.fingerprint, first]));
    return { loaded: all.map(({ loaded }) => loaded), clashes };
  }

  private state(
    scenario: Scenario,
    enabled: boolean,
    switches: Switches,
    saved: Readonly<Record<string, SavedScenario>>,
    now: number,
  ): { loaded: Loaded; first: number } {
    const fingerprint = fingerprintOf(scenario);
    const turned = own(switches.scenarios, scenario.name);
    const kept = own(saved, scenario.name);
    const first =
      this.firstArmed.get(fingerprint) ?? (kept?.fingerprint === fingerprint ? kept.armedAt : now);
    const armed = turned?.armed ?? enabled;
    const armedAt = armed && turned ? Math.max(first, Date.parse(turned.at)) : first;
    return { loaded: { scenario, fingerprint, armed, armedAt }, first };
  }
}

/** About the name of a scenario in a file. */
export function problemOf(file: string, message: string): Problem {
  return { file, line: 1, column: 1, path: 'metadata.name', message, severity: 'error' };
}

function own<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
