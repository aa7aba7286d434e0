import { type PlayedCase, playedCases } from '../../support/golden/cases';
import {
  type GoldenLine,
  goldenDifferences,
  goldenLines,
  readGolden,
  showGolden,
} from '../../support/golden/journal';
import { keep, lineOf, readKept } from '../../support/golden/kept';
import { Player } from './stage/play';
import { kubernetesVersion, openCluster } from './stage/real-cluster';
import { Scene } from './stage/scene';

/** `npm run e2e -- --update`: what is seen is what is to be seen from now on. */
const update = process.env.FAKE_CSI_GOLDEN === 'update';

/** The machine is shared and the API server is asked every 250 ms. */
const TOLERANCE = { part: 0.5, ms: 3000 };

/** What a real cluster does at the same moment may come in either order: a case that differs is played once more. */
const TRIES = update ? 1 : 2;

async function played({ name, steps, scenario, manifests }: PlayedCase): Promise<GoldenLine[]> {
  const scene = await Scene.open(name);
  try {
    if (scenario !== undefined) await scene.arm(scenario);
    scene.mark();
    const player = new Player(scene, { manifests });
    await player.play(steps);
    return goldenLines(await scene.calls(), player.done);
  } finally {
    await scene.close();
  }
}

it.each(playedCases())('$name: $about', async (one) => {
  const { name, about } = one;
  const version = await kubernetesVersion(openCluster());
  const tries: { readonly differences: string[]; readonly seen: string }[] = [];
  do {
    const lines = await played(one);
    const seen = showGolden(lines);
    const differences = (kept: string) => goldenDifferences(readGolden(kept), lines, TOLERANCE);
    if (update)
      keep(
        'golden',
        { name, title: about, version, text: `${seen}\n` },
        (kept) => differences(kept).length === 0,
      );
    const kept = readKept('golden', name, lineOf(version));
    if (!kept) throw new Error(`${name} was not played on ${version} yet: npm run e2e -- --update`);
    tries.push({ differences: differences(kept.text), seen });
  } while (tries.at(-1)?.differences.length !== 0 && tries.length < TRIES);
  expect(tries.at(-1)?.differences.length === 0 ? [] : tries).toEqual([]);
});
