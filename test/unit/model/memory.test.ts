import { createMemoryHost } from '../../../src/host/memory';
import { explore } from '../../model/explore';
import { groundOf } from '../../model/grounds';

jest.setTimeout(120_000);

const seed = Number(process.env.FAKE_CSI_MODEL_SEED ?? 20_240_607);
const runs = Number(process.env.FAKE_CSI_MODEL_RUNS ?? 300);

test('whatever is asked, alone or together, is answered and done as the specification says', async () => {
  const { failure, tally } = await explore(
    { host: createMemoryHost(), backend: 'memory' },
    groundOf('memory'),
    { seed, runs },
  );
  expect(failure && `${failure.message}\n${failure.replay}`).toBeUndefined();
  console.log(tally);
});
