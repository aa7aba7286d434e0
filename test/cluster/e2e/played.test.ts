import * as fs from 'node:fs';
import { goldenFile, type PlayedCase, playedCases } from '../../support/golden/cases';
import {
  type GoldenLine,
  goldenDifferences,
  goldenLines,
  readGolden,
  showGolden,
} from '../../support/golden/journal';
import { Player } from './stage/play';
import { openCluster } from './stage/real-cluster';
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

async function kubernetesVersion(): Promise<string> {
  const { serverVersion } = (await openCluster().json(['version'])) as unknown as {
    serverVersion: { gitVersion: string };
  };
  return serverVersion.gitVersion;
}

it.each(playedCases())('$name: $about', async (one) => {
  const file = goldenFile(one.name);
  const tries: { readonly differences: string[]; readonly seen: string }[] = [];
  do {
    const lines = await played(one);
    const seen = showGolden(lines);
    if (update)
      fs.writeFileSync(file, `# ${one.about}\n# Kubernetes ${await kubernetesVersion()}\n${seen}\n`);
    const wanted = readGolden(fs.readFileSync(file, 'utf8'));
    tries.push({ differences: goldenDifferences(wanted, lines, TOLERANCE), seen });
  } while (tries.at(-1)?.differences.length !== 0 && tries.length < TRIES);
  expect(tries.at(-1)?.differences.length === 0 ? [] : tries).toEqual([]);
});
