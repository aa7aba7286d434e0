import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { parseSteps, type Step } from '../../../src/kubelet/steps/grammar';

/** Something that is played on a real cluster and in a rehearsal: the calls of the two are to be the same. */
export interface PlayedCase {
  readonly name: string;
  /** What is seen in it, one line. */
  readonly about: string;
  readonly steps: readonly Step[];
  /** What the driver gets wrong: text of a scenario file. */
  readonly scenario: string | undefined;
  /** Kubernetes objects, YAML documents. */
  readonly manifests: string;
  /** Why the rehearsal differs, where it does and may. */
  readonly rehearsalDiffers: string | undefined;
}

const FOLDER = path.join(__dirname, '../../cluster/cases');

/** @throws Error for a file that is none. */
function readCase(file: string): PlayedCase {
  const text = fs.readFileSync(path.join(FOLDER, file), 'utf8');
  const documents = parseAllDocuments(text);
  for (const { errors } of documents)
    for (const error of errors) throw new Error(`${file}: ${error.message}`);
  const [head, ...objects] = documents;
  const { about, steps, scenario, rehearsalDiffers, ...more } = (head as { toJS(): object }).toJS() as Record<
    string,
    unknown
  >;
  if (typeof about !== 'string' || typeof steps !== 'string' || Object.keys(more).length > 0)
    throw new Error(`${file}: expected a first document with about, steps and perhaps scenario`);
  return {
    name: file.replace(/\.yaml$/, ''),
    about,
    steps: parseSteps(steps),
    scenario: scenario === undefined ? undefined : JSON.stringify(scenario),
    manifests: objects.map((object) => JSON.stringify((object as { toJS(): object }).toJS())).join('\n---\n'),
    rehearsalDiffers: rehearsalDiffers as string | undefined,
  };
}

export const playedCases = (): PlayedCase[] =>
  fs
    .readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map(readCase);
