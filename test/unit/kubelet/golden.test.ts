import * as fs from 'node:fs';
import * as path from 'node:path';
import { KUBELET_VERSIONS } from '../../../src/kubelet/versions';
import { playedCases } from '../../support/golden/cases';
import { goldenDifferences, goldenLines, readGolden, showGolden } from '../../support/golden/journal';
import { readKept } from '../../support/golden/kept';
import { rehearsed } from './golden-rehearsal';

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

it.each(golden)('$name: a rehearsal makes the calls that a real kubelet $version made', async (played) => {
  const { manifests, rehearsalDiffers, version, kept } = played;
  const { failure, calls, acts } = await rehearsed(
    { ...played, manifests: `${CSI_DRIVER}\n---\n${manifests}` },
    { version, configuration: CONFIGURATION },
  );
  const lines = goldenLines(calls, acts);
  const differences = goldenDifferences(readGolden(kept), lines, TOLERANCE);
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

it('after an outage gaps may be a minute longer, whatever is done meanwhile; order and codes are the same', () => {
  const journal = (...gaps: readonly number[]) =>
    readGolden(
      `-- create\n+${gaps[0]}s  NodeStageVolume OK\n-- api start\n-- delete\n+${gaps[1]}s  NodeUnstageVolume OK\n`,
    );
  const differences = (found: ReturnType<typeof journal>) =>
    goldenDifferences(journal(1, 1), found, { part: 0.5, ms: 3000 });
  expect(differences(journal(1, 60))).toEqual([]);
  expect(differences(journal(60, 1))).toEqual([
    'line 2, NodeStageVolume OK: expected after 1000 ms, found after 60000 ms',
  ]);
  expect(differences(journal(1, 60).slice(0, -1))).toEqual([
    'line 5: expected NodeUnstageVolume OK, found nothing',
  ]);
});
