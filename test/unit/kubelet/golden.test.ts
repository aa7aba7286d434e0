import * as fs from 'node:fs';
import * as path from 'node:path';
import { goldenFile, type PlayedCase, playedCases } from '../../support/golden/cases';
import {
  type GoldenStep,
  goldenDifferences,
  goldenLines,
  isAct,
  readGolden,
  showGolden,
} from '../../support/golden/journal';
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

const golden = playedCases().filter(({ name }) => fs.existsSync(goldenFile(name)));

function actsOf({ timeline }: Played, { steps }: PlayedCase): GoldenStep[] {
  const entries = timeline.entries.filter(({ kind }) => kind === 'step');
  return steps.flatMap((step, index) => {
    const at = entries[index]?.at;
    return isAct(step) && at !== undefined ? [{ step: step.text, atMs: at }] : [];
  });
}

it.each(golden)('$name: a rehearsal makes the calls that a real kubelet made', async (played) => {
  const { name, steps, scenario, manifests, rehearsalDiffers } = played;
  const text = steps.map((step) => step.text).join('; ');
  const rehearsed = await play(`${CSI_DRIVER}\n---\n${manifests}`, text, {
    version: '1.36',
    ...(scenario !== undefined && { scenario }),
  });
  expect(rehearsed.outcome.failure).toBeUndefined();
  const calls = rehearsed.calls.map(({ method, code, at }) => ({
    method,
    atMs: at,
    ...(code !== undefined && { code }),
  }));
  const lines = goldenLines(calls, actsOf(rehearsed, played));
  const differences = goldenDifferences(
    readGolden(fs.readFileSync(goldenFile(name), 'utf8')),
    lines,
    TOLERANCE,
  );
  // What differs for a reason must go on to differ: the reason is in docs/rehearsal.md.
  if (rehearsalDiffers !== undefined) expect(differences).not.toEqual([]);
  else expect({ differences, seen: showGolden(lines) }).toEqual({ differences: [], seen: expect.anything() });
});
