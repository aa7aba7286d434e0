import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type InProcessRehearsal, openInProcess } from '../../../src/embedded/in-process-rehearsal';
import type { KubeletConfiguration } from '../../../src/kubelet/configuration';
import { readManifests } from '../../../src/kubelet/manifests/read';
import { KubeletPaths } from '../../../src/kubelet/names';
import { FIRST_NODE } from '../../../src/kubelet/rehearsal';
import type { KubeletVersion } from '../../../src/kubelet/versions';
import type { OtherBind, PlayedCase, PlayedStep } from '../../support/golden/cases';
import { type GoldenCall, type GoldenStep, isAct } from '../../support/golden/journal';

export interface RehearsedCase {
  /** The step that did not come true. */
  readonly failure: string | undefined;
  readonly calls: readonly GoldenCall[];
  readonly acts: readonly GoldenStep[];
}

interface Settings {
  readonly version: KubeletVersion;
  readonly configuration: Partial<KubeletConfiguration>;
}

/** Plays a case in a rehearsal, with what it has no steps for done by hand. */
export async function rehearsed(one: PlayedCase, settings: Settings): Promise<RehearsedCase> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'golden-test-'));
  const file = path.join(folder, 'scenario.yaml');
  if (one.scenario !== undefined) fs.writeFileSync(file, one.scenario);
  const opened = await openInProcess({
    ...settings,
    manifests: readManifests(one.manifests, one.name),
    seed: 1,
    rootDir: undefined,
    start: {},
    scenarios: one.scenario === undefined ? [] : [file],
  });
  try {
    await opened.rehearsal.begin();
    const failure = await playAll(opened, one.steps);
    return { failure, calls: callsOf(opened), acts: actsOf(opened, one.steps) };
  } finally {
    await opened.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns why the first step that did not come true did not. */
async function playAll(
  opened: InProcessRehearsal,
  steps: readonly PlayedStep[],
): Promise<string | undefined> {
  for (const step of steps) {
    if (step.kind === 'other-bind') {
      opened.timeline.add({ who: 'rehearsal', kind: 'step', text: step.text });
      await otherBind(opened, step);
      continue;
    }
    const failure = await opened.rehearsal.step(step);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Beside the stage of the one volume, where nobody looks. */
async function otherBind({ rehearsal, rootDir }: InProcessRehearsal, { act }: OtherBind): Promise<void> {
  const { machine } = rehearsal.cluster.node(FIRST_NODE) ?? {};
  const [volume] = rehearsal.cluster.api.volumes.all();
  if (!machine || !volume) throw new Error(`expected ${FIRST_NODE} and a volume`);
  const { driver = '', volumeHandle = '' } = volume;
  const paths = new KubeletPaths(rootDir);
  const place = path.join(paths.globalVolume(driver, volumeHandle), 'elsewhere');
  if (act === 'make') {
    fs.mkdirSync(place);
    await machine.mounts.bind(paths.staging(driver, volumeHandle), place);
  } else {
    await machine.mounts.unmount(place);
    fs.rmdirSync(place);
  }
}

/** Virtual time stands still while things happen; the order of a timeline is theirs. */
const inOrder = (at: number, index: number): number => at + index * 1e-6;

function actsOf({ timeline }: InProcessRehearsal, steps: readonly PlayedStep[]): GoldenStep[] {
  const moments = timeline.entries.flatMap(({ kind, at }, index) =>
    kind === 'step' ? [inOrder(at, index)] : [],
  );
  return steps.flatMap((step, index) => {
    const atMs = moments[index];
    return isAct(step) && atMs !== undefined ? [{ step: step.text, atMs }] : [];
  });
}

function callsOf({ timeline }: InProcessRehearsal): GoldenCall[] {
  return timeline.calls.map((call) => ({
    method: call.method,
    atMs: inOrder(call.at, timeline.entries.indexOf(call)),
    ...(call.code !== undefined && { code: call.code }),
  }));
}
