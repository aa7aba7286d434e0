import * as path from 'node:path';
import type { Log } from '../../util/log';
import type { Problem } from '../language';
import { formatted, language } from './language';
import { filesAt, type Source, stampOf } from './source';

export interface SourcesOptions {
  /** What all processes share. */
  folder: string;
  /** Files and folders of this process alone. */
  places: readonly string[];
  /** The same, whose scenarios rest until somebody asks for one. */
  gallery: readonly string[];
  log: Log;
  event(event: 'scenarioReloaded' | 'scenarioReloadFailed', details: object): void;
}

/** Every file that scenarios come from, each with what it last said well. */
export class Sources {
  private readonly files = new Map<string, Source>();
  /** What each place had at the last look: whoever asks in between asks no disk. */
  private listing = new Map<string, readonly string[]>();
  /** Readings that found something wrong. */
  failures = 0;

  constructor(private readonly options: SourcesOptions) {}

  /** The gallery last: of two scenarios with one name the first is taken. */
  places(): string[] {
    const { places, folder, gallery } = this.options;
    return [...places, folder, ...gallery];
  }

  /** Folders and files that tell of changes, also of those to files that are replaced as a whole. */
  watched(): Set<string> {
    const { places, folder, gallery } = this.options;
    return new Set([folder, ...[...places, ...gallery].flatMap((place) => [place, path.dirname(place)])]);
  }

  /** In the order of loading, with whether they rest. */
  all(): { source: Source; resting: boolean }[] {
    return this.places().flatMap((place) => {
      const resting = this.options.gallery.includes(place);
      return this.sourcesAt(place).map((source) => ({ source, resting }));
    });
  }

  private sourcesAt(place: string): Source[] {
    return (this.listing.get(place) ?? []).flatMap((file) => {
      const source = this.files.get(file);
      return source ? [source] : [];
    });
  }

  /** Reads what changed. @returns whether anything did. */
  read(): boolean {
    let changed = false;
    const present = new Set<string>();
    this.listing = new Map(this.places().map((place) => [place, this.listed(place)]));
    for (const file of [...this.listing.values()].flat()) {
      const stamp = stampOf(file);
      if (stamp === undefined) continue;
      present.add(file);
      if (this.files.get(file)?.stamp === stamp) continue;
      changed = true;
      this.readFile(file, stamp);
    }
    for (const file of this.files.keys())
      if (!present.has(file)) {
        this.files.delete(file);
        changed = true;
        this.options.event('scenarioReloaded', { file, removed: true });
      }
    return changed;
  }

  /** A folder that cannot be read has the files it had, and is a wrong one itself, until it can. */
  private listed(place: string): string[] {
    try {
      return filesAt(place);
    } catch {
      return [...[...this.files.keys()].filter((file) => path.dirname(file) === place), place];
    }
  }

  private readFile(file: string, stamp: string): void {
    const { event, log, folder } = this.options;
    const before = this.files.get(file);
    const { scenarios, problems } = language().parseScenarioFile(file);
    const failed = problems.some(({ severity }) => severity === 'error');
    this.files.set(file, {
      file,
      shared: path.dirname(file) === folder,
      stamp,
      scenarios: failed ? (before?.scenarios ?? []) : scenarios,
      problems,
    });
    if (failed) {
      this.failures += 1;
      const lines = problems.map(formatted);
      log.error({ file, problems: lines }, 'a scenario file is not used as it is; its last good text is');
      event('scenarioReloadFailed', { file, problems: lines });
    } else if (before) event('scenarioReloaded', { file, scenarios: scenarios.map(({ name }) => name) });
  }

  /** Everything that is wrong with the texts as they are now; of one place alone when it is named. */
  problems(place?: string): Problem[] {
    const sources = place === undefined ? [...this.files.values()] : this.sourcesAt(place);
    return sources.flatMap(({ problems }) => problems);
  }

  /** The file that a loaded scenario stands in. */
  of(name: string): Source | undefined {
    return this.all().find(({ source }) => source.scenarios.some((scenario) => scenario.name === name))
      ?.source;
  }

  /** Whether a file rests: it is of the gallery and of nothing else. */
  rests(file: string): boolean {
    const found = this.all().filter(({ source }) => source.file === file);
    return found.length > 0 && found.every(({ resting }) => resting);
  }
}
