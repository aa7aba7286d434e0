import { readSeen, withoutNames } from '../../support/golden/seen';
import { failuresOf, playShipped } from './registering';

/** What a real kubelet logged of these scenarios (test/cluster/seen). */
const SCENARIOS = [
  'registration-late',
  'registration-unsupported-version',
  'registration-wrong-type',
  'node-info-fails',
  'node-id-empty',
  'registration-refused',
  'registration-second-owner',
];

it.each(SCENARIOS)('%s: the rehearsal says what a real kubelet said', async (scenario) => {
  const played = await playShipped(scenario, 'create; wait running; advance 30s');
  expect(played.outcome.failure).toBeUndefined();
  const said = failuresOf(played).map(({ error }) => `kubelet log: ${withoutNames(error, 'no namespace')}`);
  const seen = readSeen(scenario, '1.36').filter((line) => line.startsWith('kubelet log: '));
  expect(seen).not.toEqual([]);
  expect([...new Set(said)].sort()).toEqual([...seen].sort());
});
