import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import * as path from 'node:path';
import { errnoOf, namesIn } from '../../util/files';
import type { Problem } from '../language';
import type { Scenario } from '../model';

/** A file and what it last said well. */
export interface Source {
  readonly file: string;
  /** It lies in the data folder, where every process reads it. */
  readonly shared: boolean;
  /** Changes with the file, also when it is a symbolic link that now leads elsewhere (a mounted ConfigMap). */
  stamp: string;
  scenarios: readonly Scenario[];
  /** Of the text as it is now. When one is an error, `scenarios` are those of the last good text. */
  problems: readonly Problem[];
}

/**
 * Changes whenever the file does; undefined when there is none. Never throws: one that cannot be looked at (links in a
 * circle, a mount that is gone) has its error for a stamp, and reading it says what is wrong.
 */
export function stampOf(file: string): string | undefined {
  try {
    const { ino, dev, size, mtimeMs, ctimeMs } = statSync(file);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    const errno = errnoOf(error);
    return errno === 'ENOENT' || errno === 'ENOTDIR' ? undefined : (errno ?? String(error));
  }
}

/**
 * The scenario files of a folder, by name; what is no folder, or cannot be looked at, is its own only one. Names that begin
 * with a dot are not scenarios.
 * @throws Error with the errno of a folder that cannot be read
 */
export function filesAt(place: string): string[] {
  if (!isFolder(place)) return [place];
  return namesIn(place)
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .sort()
    .map((name) => path.join(place, name));
}

function isFolder(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}

/** Tells whether two readings of a scenario say the same, wherever in its file it stands. */
export function fingerprintOf(scenario: Scenario): string {
  const text = JSON.stringify(scenario, (key, value: unknown) => {
    if (key === 'at' && typeof value === 'object') return undefined;
    return value instanceof Set ? [...value] : value;
  });
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
