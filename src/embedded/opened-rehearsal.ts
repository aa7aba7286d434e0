import * as fs from 'node:fs';
import * as path from 'node:path';
import { loadCsi, loadRegistration } from '../csi/load';
import type { KubeletConfiguration } from '../kubelet/configuration';
import type { Manifest } from '../kubelet/manifests/read';
import { FIRST_NODE, Rehearsal, type RehearsalOptions } from '../kubelet/rehearsal';
import type { Timeline } from '../kubelet/timeline/timeline';
import type { KubeletVersion } from '../kubelet/versions';
import { ensureFolder } from '../util/files';
import { once } from '../util/once';

/** A rehearsal that may be played, with all that stands around it. */
export interface OpenedRehearsal {
  readonly rehearsal: Rehearsal;
  readonly timeline: Timeline;
  /** Of the first node's kubelet. */
  readonly rootDir: string;
  /** Ends everything and removes what was temporary. */
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly manifests: readonly Manifest[];
  readonly version: KubeletVersion;
  readonly seed: number;
  readonly configuration?: Partial<KubeletConfiguration>;
  /** The kubelet's root directory, kept at the end. Undefined: a temporary one. */
  readonly rootDir: string | undefined;
}

/** The same for every rehearsal, and never changed: reading it takes 50 ms. */
export const definitions = once(() => loadCsi());
export const registrationDefinition = once(() => loadRegistration());

/** Between the first node's folder and the name of another node. */
const OTHER_NODE = '.of-';
export const KUBELET_ROOT = '/var/lib/kubelet';

/** @param rootDir of the first node's kubelet. */
export function rootDirOf(rootDir: string, nodeName: string): string {
  return nodeName === FIRST_NODE ? rootDir : `${rootDir}${OTHER_NODE}${nodeName}`;
}

/** @throws ManifestProblems */
export function rehearsalIn(
  rootDir: string,
  options: OpenOptions,
  around: Pick<RehearsalOptions, 'time' | 'timeline' | 'machineFor' | 'controllerMachine'>,
): Rehearsal {
  return new Rehearsal({
    ...around,
    version: options.version,
    seed: options.seed,
    manifests: options.manifests,
    ...(options.configuration && { configuration: options.configuration }),
    rootDirOf: (nodeName) => rootDirOf(rootDir, nodeName),
  });
}

/** @returns its real path. @throws Error with one line that a person can act on */
export function emptyFolder(named: string): string {
  const folder = path.resolve(named);
  try {
    ensureFolder(folder, 0o755);
    fs.accessSync(folder, fs.constants.W_OK);
  } catch (error) {
    throw new Error(
      `--root-dir ${folder}: it cannot be made or written (${(error as NodeJS.ErrnoException).code}); choose a folder that can`,
    );
  }
  if (fs.readdirSync(folder).length > 0)
    throw new Error(
      `--root-dir ${folder}: expected an empty folder, found files: a rehearsal begins on a new node`,
    );
  return fs.realpathSync(folder);
}

/** Paths of this machine as a node would have them: the same output everywhere. */
export function cleaner(
  rootDir: string,
  replacements: readonly (readonly [string, string])[],
): (text: string) => string {
  const roots = new RegExp(`${escaped(rootDir)}(${escaped(OTHER_NODE)}[a-z0-9.-]+)?`, 'g');
  return (text) =>
    replacements.reduce(
      (cleaned, [real, shown]) => cleaned.replaceAll(real, shown),
      text.replace(roots, KUBELET_ROOT),
    );
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
