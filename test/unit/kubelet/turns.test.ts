import { virtualTime } from '../../../src/kubelet/time-keeper';
import { Turns } from '../../../src/util/turns';
import { VirtualClock } from '../../../src/util/virtual-clock';

/** Real work of some milliseconds, as file access is. */
const real = () => new Promise<void>((resolve) => setTimeout(resolve, 3));

test('time stands still while somebody works', async () => {
  const clock = new VirtualClock();
  const turns = new Turns();
  const time = virtualTime(clock, turns);
  let ended: number | undefined;
  void turns.run(async () => {
    await real();
    ended = clock.monotonic();
  });
  void clock.sleep(10).then(() => undefined);
  await time.runUntil(() => false, 20);
  expect(ended).toBe(0);
  expect(clock.monotonic()).toBe(20);
});

test('one works at a time, and whoever sleeps lets the next one begin', async () => {
  const clock = new VirtualClock();
  const turns = new Turns();
  const inner = turns.clock(clock);
  const said: string[] = [];
  const work = (name: string) =>
    turns.run(async () => {
      said.push(`${name} begins`);
      await real();
      said.push(`${name} sleeps`);
      await inner.sleep(10);
      await real();
      said.push(`${name} ends`);
    });
  void work('a');
  void work('b');
  await virtualTime(clock, turns).runUntil(() => said.length === 6, 100);
  expect(said).toEqual(['a begins', 'a sleeps', 'b begins', 'b sleeps', 'a ends', 'b ends']);
});

test('work that never ends can be given up', async () => {
  const clock = new VirtualClock();
  const turns = new Turns();
  const stuck = turns.start(() => new Promise<void>(() => undefined));
  const next = turns.run(async () => 'done');
  stuck.abandon();
  await expect(next).resolves.toBe('done');
  expect(turns.isBusy).toBe(false);
  expect(clock.monotonic()).toBe(0);
});

test('a wait ends at its limit when nothing happens any more', async () => {
  const clock = new VirtualClock();
  await expect(virtualTime(clock, new Turns()).runUntil(() => false, 60_000)).resolves.toBe(false);
  expect(clock.monotonic()).toBe(60_000);
});
