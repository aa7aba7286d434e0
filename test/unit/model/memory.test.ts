import { createMemoryHost } from '../../../src/host/memory';
import { explore } from '../../model/explore';
import { groundOf } from '../../model/grounds';

jest.setTimeout(120_000);

const seed = Number(process.env.FAKE_CSI_MODEL_SEED ?? 20_240_607);
const runs = process.env.FAKE_CSI_MODEL_RUNS;
/** Unless a number of sequences is asked for: as many as there is time for. */
const bounds = runs === undefined ? { runs: 300, withinMs: 12_000 } : { runs: Number(runs) };

test('whatever is asked, alone or together, is answered and done as the specification says', async () => {
  const machine = { host: createMemoryHost(), backend: 'memory' } as const;
  const { failure, tally } = await explore(machine, groundOf('memory'), { seed, ...bounds });
  expect(failure && `${failure.message}\n${failure.replay}`).toBeUndefined();
  expect(tally.sequences).toBeGreaterThan(3);
  expect(tally.calls).toBeGreaterThan(100);
});
