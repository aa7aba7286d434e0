import { playedCases } from '../../support/golden/cases';
import { readSeen, writeFailuresPage, writeSeen } from '../../support/golden/seen';
import { isUpdate, playGolden } from './stage/golden-play';
import { kubernetesVersion, openCluster } from './stage/real-cluster';
import { ActWitness } from './stage/witness';

/** What no driver can do: the API server is stopped, and something else mounts what is staged. Nothing else can run meanwhile. */

afterAll(() => {
  if (isUpdate) writeFailuresPage();
});

const cases = playedCases().flatMap((one) => (one.knob === undefined ? [] : [{ ...one, knob: one.knob }]));

it.each(cases)('$knob $name: $about', async (one) => {
  const { name, knob, about } = one;
  let witness: ActWitness | undefined;
  await playGolden(one, (scene) => {
    witness = new ActWitness(scene);
    return witness;
  });
  const lines = [about, ...(witness?.lines ?? [])];
  const version = await kubernetesVersion(openCluster());
  if (isUpdate) writeSeen({ scenario: name, knob, lines }, version);
  expect(lines).toEqual(readSeen(name, version));
});
