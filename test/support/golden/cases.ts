import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { parseSteps, type Step } from '../../../src/kubelet/steps/grammar';

/** The volume that is staged is mounted in one more place, as an operator or a backup would: no step of a rehearsal is for that. */
export interface OtherBind {
  readonly kind: 'other-bind';
  readonly act: 'make' | 'remove';
  readonly text: string;
}

export type PlayedStep = Step | OtherBind;

/** Something that is played on a real cluster and in a rehearsal: the calls of the two are to be the same. */
export interface PlayedCase {
  readonly name: string;
  /** What is seen in it, one line. */
  readonly about: string;
  /** Of the facts' list of knobs, where the cluster itself is changed: such cases are played apart from the others. */
  readonly knob: string | undefined;
  readonly steps: readonly PlayedStep[];
  /** What the driver gets wrong: text of a scenario file. */
  readonly scenario: string | undefined;
  /** Kubernetes objects, YAML documents. */
  readonly manifests: string;
  /** Why the rehearsal differs, where it does and may. */
  readonly rehearsalDiffers: string | undefined;
}

const FOLDER = path.join(__dirname, '../../cluster/cases');

function playedSteps(text: string): PlayedStep[] {
  const parts = text.split(';').map((part) => part.trim());
  return parts.flatMap((part): PlayedStep[] => {
    const act = /^other-bind (make|remove)$/.exec(part)?.[1];
    return act === undefined
      ? parseSteps(part)
      : [{ kind: 'other-bind', act: act as OtherBind['act'], text: part }];
  });
}

/** @throws Error for a file that is none. */
function readCase(file: string): PlayedCase {
  const text = fs.readFileSync(path.join(FOLDER, file), 'utf8');
  const documents = parseAllDocuments(text);
  for (const { errors } of documents)
    for (const error of errors) throw new Error(`${file}: ${error.message}`);
  const [head, ...objects] = documents;
  const { about, knob, steps, scenario, rehearsalDiffers, ...more } = (
    head as { toJS(): object }
  ).toJS() as Record<string, unknown>;
  if (typeof about !== 'string' || typeof steps !== 'string' || Object.keys(more).length > 0)
    throw new Error(`${file}: expected a first document with about, steps and perhaps knob and scenario`);
  return {
    name: file.replace(/\.yaml$/, ''),
    about,
    knob: knob as string | undefined,
    steps: playedSteps(steps),
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
