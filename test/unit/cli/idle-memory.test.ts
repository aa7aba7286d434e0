import { IdleMemory } from '../../../src/cli/idle-memory';
import { systemClock } from '../../../src/util/clock';

function idle() {
  const machine = { calls: 0, time: 0, trims: 0 };
  const memory = new IdleMemory({
    calls: () => machine.calls,
    trim: async () => {
      machine.trims += 1;
    },
    clock: { ...systemClock, monotonic: () => machine.time },
  });
  /** The number of trims after a look at this many calls and this second. */
  const look = async (calls: number, second: number) => {
    Object.assign(machine, { calls, time: second * 1_000 });
    await memory.look();
    return machine.trims;
  };
  return { look };
}

test('memory is given back when a busy time is over, and not while calls come', async () => {
  const { look } = idle();
  expect(await look(600, 2)).toBe(0);
  expect(await look(900, 4)).toBe(0);
  expect(await look(900, 6)).toBe(1);
});

test('once, until many more calls have come', async () => {
  const { look } = idle();
  for (const second of [2, 4]) await look(600, second);
  expect(await look(600, 100)).toBe(1);
  for (const second of [102, 104]) await look(1_099, second);
  expect(await look(1_099, 106)).toBe(1);
  for (const second of [108, 110]) await look(1_100, second);
  expect(await look(1_100, 112)).toBe(2);
});

test('no oftener than twice a minute', async () => {
  const { look } = idle();
  for (const second of [2, 4]) await look(600, second);
  for (const second of [6, 8]) await look(5_000, second);
  expect(await look(5_000, 33)).toBe(1);
  expect(await look(5_000, 35)).toBe(2);
});

test('a few calls are not worth it', async () => {
  const { look } = idle();
  await look(499, 2);
  expect(await look(499, 4)).toBe(0);
});

test('a trim that fails is no failure of the driver', async () => {
  const memory = new IdleMemory({
    calls: () => 600,
    trim: () => Promise.reject(new Error('no')),
    clock: systemClock,
  });
  await expect(memory.look()).resolves.toBeUndefined();
});
