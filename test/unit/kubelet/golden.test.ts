import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Entry } from '../../../src/kubelet/timeline/timeline';
import { KUBELET_VERSIONS } from '../../../src/kubelet/versions';
import { type PlayedCase, playedCases } from '../../support/golden/cases';
import {
  type GoldenCall,
  type GoldenStep,
  goldenDifferences,
  goldenLines,
  isAct,
  readGolden,
  showGolden,
} from '../../support/golden/journal';
import { readKept } from '../../support/golden/kept';
import { type Played, play } from './harness';

/**
 * A real cluster takes its time for containers, API calls and watches, which a rehearsal does not model; what backs off
 * or waits for a timer does so for seconds, and doubling must be seen.
 */
const TOLERANCE = { part: 0.5, ms: 3000 };

/** As deploy/controller installs it. */
const CSI_DRIVER = fs
  .readFileSync(path.join(__dirname, '../../../deploy/base/csidriver.yaml'), 'utf8')
  .replace('attachRequired: false', 'attachRequired: true');

/** As the kubelet of the cluster is configured (scripts/lib/cluster). */
const CONFIGURATION = { nodeStatusUpdateMs: 1_000, syncMs: 10_000, volumeStatsMs: 10_000 };

/** Each case as each line of Kubernetes played it. */
const golden = KUBELET_VERSIONS.flatMap((version) =>
  playedCases().flatMap((played) => {
    const kept = readKept('golden', played.name, version);
    return kept ? [{ ...played, version, kept: kept.text }] : [];
  }),
);

/** Virtual time stands still while things happen; the order of a timeline is theirs. */
function inOrder({ timeline }: Played, at: number, entry: Entry): number {
  return at + timeline.entries.indexOf(entry) * 1e-6;
}

function actsOf(rehearsed: Played, { steps }: Pick<PlayedCase, 'steps'>): GoldenStep[] {
  const entries = rehearsed.timeline.entries.filter(({ kind }) => kind === 'step');
  return steps.flatMap((step, index) => {
    const entry = entries[index];
    return isAct(step) && entry ? [{ step: step.text, atMs: inOrder(rehearsed, entry.at, entry) }] : [];
  });
}

function callsOf(rehearsed: Played): GoldenCall[] {
  return rehearsed.calls.map((call) => ({
    method: call.method,
    atMs: inOrder(rehearsed, call.at, call),
    ...(call.code !== undefined && { code: call.code }),
  }));
}

it.each(golden)('$name: a rehearsal makes the calls that a real kubelet $version made', async (played) => {
  const { steps, scenario, manifests, rehearsalDiffers, version, kept } = played;
  const text = steps.map((step) => step.text).join('; ');
  const rehearsed = await play(`${CSI_DRIVER}\n---\n${manifests}`, text, {
    version,
    configuration: CONFIGURATION,
    ...(scenario !== undefined && { scenario }),
  });
  const lines = goldenLines(callsOf(rehearsed), actsOf(rehearsed, played));
  const differences = goldenDifferences(readGolden(kept), lines, TOLERANCE);
  const { failure } = rehearsed.outcome;
  // What differs for a reason must go on to differ, or the reason is none any more.
  if (rehearsalDiffers !== undefined) expect([failure, ...differences].filter(Boolean)).not.toEqual([]);
  else
    expect({ failure, differences, seen: showGolden(lines) }).toEqual({
      failure: undefined,
      differences: [],
      seen: expect.anything(),
    });
});

it('an attacher that attaches at once what it has attached slowly makes no second line', () => {
  const repeated = [
    { method: 'ControllerPublishVolume', code: 'OK', atMs: 1000, durationMs: 8000 },
    { method: 'ControllerPublishVolume', code: 'OK', atMs: 9100, durationMs: 8000 },
    { method: 'NodeStageVolume', code: 'OK', atMs: 9600, durationMs: 100 },
    { method: 'ControllerPublishVolume', code: 'OK', atMs: 30_000, durationMs: 10 },
  ];
  expect(goldenLines(repeated, []).map(({ text }) => text)).toEqual([
    'ControllerPublishVolume OK',
    'NodeStageVolume OK',
    'ControllerPublishVolume OK',
  ]);
});
