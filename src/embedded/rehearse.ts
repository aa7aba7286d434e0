import * as fs from 'node:fs';
import type { KubeletConfiguration } from '../kubelet/configuration';
import { type Manifest, readManifests } from '../kubelet/manifests/read';
import type { Outcome, Rehearsal } from '../kubelet/rehearsal';
import type { Step } from '../kubelet/steps/grammar';
import { entryLine } from '../kubelet/timeline/formats';
import type { Timeline } from '../kubelet/timeline/timeline';
import type { KubeletVersion } from '../kubelet/versions';
import { openInProcess } from './in-process-rehearsal';
import { openOverSocket } from './socket-rehearsal';

export interface RunOptions {
  readonly manifests: readonly string[];
  readonly scenarios: readonly string[];
  readonly steps: readonly Step[];
  readonly version: KubeletVersion;
  readonly seed: number;
  /** Of the kubelets, where it is not the default. */
  readonly configuration?: Partial<KubeletConfiguration>;
  /** Undefined: a driver of our own, in this process and under virtual time. */
  readonly endpoint: string | undefined;
  /** The kubelet's root directory, kept at the end. Undefined: a temporary one. */
  readonly rootDir: string | undefined;
  readonly driverName: string | undefined;
  readonly capabilities: string | undefined;
  /** Lines as they come, in real time. */
  readonly print: ((line: string) => void) | undefined;
}

export interface Rehearsed {
  readonly outcome: Outcome;
  readonly rehearsal: Rehearsal;
  readonly timeline: Timeline;
}

/** Puts a driver, a kubelet and manifests together, plays the steps and takes everything down. @throws Error, ManifestProblems */
export async function rehearse(options: RunOptions): Promise<Rehearsed> {
  const { endpoint, driverName, capabilities, print, steps } = options;
  const manifests: readonly Manifest[] = options.manifests.flatMap((file) =>
    readManifests(textOf(file), file),
  );
  const common = { ...options, manifests };
  const opened =
    endpoint === undefined
      ? await openInProcess({
          ...common,
          start: {
            ...(driverName !== undefined && { driverName }),
            ...(capabilities !== undefined && { capabilities }),
          },
        })
      : await openOverSocket({ ...common, endpoint, onEntry: (entry) => print?.(entryLine(entry)) });
  try {
    const { rehearsal, timeline } = opened;
    return { outcome: await rehearsal.run(steps), rehearsal, timeline };
  } finally {
    await opened.close();
  }
}

/** @throws Error with one line */
function textOf(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(
      `${file}: expected a file of manifests that can be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}
