import * as fs from 'node:fs';
import { goldenFile, playedCases } from '../../support/golden/cases';
import { goldenDifferences, goldenLines, readGolden, showGolden } from '../../support/golden/journal';
import { Player } from './stage/play';
import { Scene } from './stage/scene';

/** `npm run e2e -- --update`: what is seen is what is to be seen from now on. */
const update = process.env.FAKE_CSI_GOLDEN === 'update';

/** The machine is shared and the API server is asked every 250 ms. */
const TOLERANCE = { part: 0.5, ms: 3000 };

describe.each(playedCases())('$name: $about', ({ name, about, steps, scenario, manifests }) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open(name);
  });
  afterAll(() => scene?.close());

  it('makes the calls of its golden journal', async () => {
    if (scenario !== undefined) await scene.arm(scenario);
    scene.mark();
    const player = new Player(scene, { manifests });
    await player.play(steps);
    const lines = goldenLines(await scene.calls(), player.done);
    const file = goldenFile(name);
    if (update) {
      const { serverVersion } = (await scene.cluster.json(['version'])) as unknown as {
        serverVersion: { gitVersion: string };
      };
      fs.writeFileSync(file, `# ${about}\n# Kubernetes ${serverVersion.gitVersion}\n${showGolden(lines)}\n`);
    }
    const wanted = readGolden(fs.readFileSync(file, 'utf8'));
    expect({ differences: goldenDifferences(wanted, lines, TOLERANCE), seen: showGolden(lines) }).toEqual({
      differences: [],
      seen: expect.anything(),
    });
  });
});
