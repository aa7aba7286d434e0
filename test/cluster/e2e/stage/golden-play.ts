import type { PlayedCase } from '../../../support/golden/cases';
import {
  type GoldenLine,
  goldenDifferences,
  goldenLines,
  readGolden,
  showGolden,
} from '../../../support/golden/journal';
import { keep, lineOf, readKept } from '../../../support/golden/kept';
import { Player } from './play';
import { kubernetesVersion, openCluster } from './real-cluster';
import { Scene } from './scene';

/** `npm run e2e -- --update`: what is seen is what is to be seen from now on. */
export const isUpdate = process.env.FAKE_CSI_GOLDEN === 'update';

/** The machine is shared and the API server is asked every 250 ms. */
const TOLERANCE = { part: 0.5, ms: 3000 };

/** What a real cluster does at the same moment may come in either order: a case that differs is played once more. */
const TRIES = isUpdate ? 1 : 2;

/** Somebody who looks at a scene while it is played. */
export interface Witness {
  before(act: { readonly text: string }): Promise<void>;
  /** When all of it was played, before the scene is closed. */
  atEnd(): Promise<void>;
}

async function played(
  { name, steps, scenario, manifests }: PlayedCase,
  witnessOf?: (scene: Scene) => Witness,
): Promise<GoldenLine[]> {
  const scene = await Scene.open(name);
  const witness = witnessOf?.(scene);
  const player = new Player(scene, { manifests }, async (act) => witness?.before(act));
  try {
    if (scenario !== undefined) await scene.arm(scenario);
    scene.mark();
    await player.play(steps);
    await witness?.atEnd();
    return goldenLines(await scene.calls(), player.done);
  } finally {
    await player.restore();
    await scene.close();
  }
}

/** Plays a case and holds it to its golden journal, or writes that. */
export async function playGolden(one: PlayedCase, witnessOf?: (scene: Scene) => Witness): Promise<void> {
  const { name, about } = one;
  const version = await kubernetesVersion(openCluster());
  const tries: { readonly differences: string[]; readonly seen: string }[] = [];
  do {
    const lines = await played(one, witnessOf);
    const seen = showGolden(lines);
    const differences = (kept: string) => goldenDifferences(readGolden(kept), lines, TOLERANCE);
    if (isUpdate)
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
}
