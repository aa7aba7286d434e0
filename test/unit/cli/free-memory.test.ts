import { FreeMemory } from '../../../src/cli/free-memory';
import { systemClock } from '../../../src/util/clock';

function memory() {
  const machine = { calls: 0, time: 0, trims: 0 };
  const free = new FreeMemory({
    calls: () => machine.calls,
    trim: async () => {
      machine.trims += 1;
    },
    clock: { ...systemClock, monotonic: () => machine.time },
  });
  /** The number of trims after a look at this many calls and this second. */
  const look = async (calls: number, second: number) => {
    Object.assign(machine, { calls, time: second * 1_000 });
    await free.look();
    return machine.trims;
  };
  return { look };
}

test('memory is given back after many calls, also while more come', async () => {
  const { look } = memory();
  expect(await look(499, 2)).toBe(0);
  expect(await look(900, 4)).toBe(1);
});

test('not again before as many have come', async () => {
  const { look } = memory();
  expect(await look(600, 2)).toBe(1);
  expect(await look(1_099, 100)).toBe(1);
  expect(await look(1_100, 102)).toBe(2);
});

test('no oftener than every ten seconds', async () => {
  const { look } = memory();
  expect(await look(600, 2)).toBe(1);
  for (const second of [4, 6, 8, 10]) expect(await look(second * 1_000, second)).toBe(1);
  expect(await look(20_000, 12)).toBe(2);
});

test('a trim that fails is no failure of the driver', async () => {
  const free = new FreeMemory({
    calls: () => 600,
    trim: () => Promise.reject(new Error('no')),
    clock: systemClock,
  });
  await expect(free.look()).resolves.toBeUndefined();
});
