import * as fc from 'fast-check';
import { TestEngine } from '../../../support/engine';

const spec = (seed: number) => `
  seed: ${seed}
  rules:
  - {name: chance, match: {rpc: NodeStageVolume}, when: {probability: 0.4, skip: 1}, then: [{error: {code: UNAVAILABLE}}]}
  - {name: list, match: {rpc: NodeStageVolume}, sequence: "50%2*ABORTED -> 30%INTERNAL -> ok"}
`;

const CALLS = 8;
const VOLUMES = ['a', 'b', 'c'];

/** What each volume's calls were answered, in their own order. */
async function answers(seed: number, order: readonly number[]): Promise<Record<string, string[]>> {
  const engine = new TestEngine(spec(seed));
  const found: Record<string, string[]> = Object.fromEntries(VOLUMES.map((volume) => [volume, []]));
  for (const index of order) {
    const volume = VOLUMES[index % VOLUMES.length] as string;
    found[volume]?.push(await engine.send('NodeStageVolume', { volume }));
  }
  return found;
}

describe('the same seed', () => {
  it('gives each volume the same faults, however the calls of volumes interleave', async () => {
    const indexes = Array.from({ length: CALLS * VOLUMES.length }, (_, index) => index);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 ** 31 }),
        fc.shuffledSubarray(indexes, { minLength: indexes.length }),
        async (seed, order) => {
          expect(await answers(seed, order)).toEqual(await answers(seed, indexes));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('another seed gives others', async () => {
    const order = Array.from({ length: CALLS * VOLUMES.length }, (_, index) => index);
    const seen = new Set<string>();
    for (let seed = 0; seed < 10; seed += 1) seen.add(JSON.stringify(await answers(seed, order)));
    expect(seen.size).toBeGreaterThan(5);
  });

  it('draws about as often as it says', async () => {
    const engine = new TestEngine(`
  rules: [{name: r, match: {rpc: NodeStageVolume}, when: {probability: 0.3}, then: [{error: {code: UNAVAILABLE}}]}]`);
    let fired = 0;
    for (let call = 0; call < 2_000; call += 1)
      if ((await engine.send('NodeStageVolume', { volume: 'a' })) !== 'OK') fired += 1;
    // Five standard deviations.
    expect(Math.abs(fired - 600)).toBeLessThan(5 * Math.sqrt(2_000 * 0.3 * 0.7));
  });
});
