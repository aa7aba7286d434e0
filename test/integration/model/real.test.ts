import type { BackendName } from '../../../src/backends/backend';
import { explore } from '../../model/explore';
import { groundOn } from '../../model/grounds';
import { useMachine } from '../../support/machine';

const machine = useMachine();
jest.setTimeout(180_000);

const seed = Number(process.env.FAKE_CSI_MODEL_SEED ?? 20_240_607);
const runs = process.env.FAKE_CSI_MODEL_RUNS;

/** ext4, xfs and raw devices; tmpfs; folders. */
const SHARES: Readonly<Partial<Record<BackendName, number>>> = {
  loop: 16_000,
  tmpfs: 7_000,
  directory: 4_000,
};

test.each(Object.entries(SHARES) as [BackendName, number][])(
  '%s on real mounts: answers and mounts are as the specification says',
  async (backend, withinMs) => {
    const bounds = runs === undefined ? { runs: 300, withinMs } : { runs: Number(runs) };
    const ground = await groundOn(machine.host, backend, 30);
    const { failure, tally } = await explore({ host: machine.host, backend }, ground, { seed, ...bounds });
    expect(failure && `${failure.message}\n${failure.replay}`).toBeUndefined();
    expect(tally.sequences).toBeGreaterThan(0);
  },
);
