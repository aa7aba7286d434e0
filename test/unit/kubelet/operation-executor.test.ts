import { Timeline } from '../../../src/kubelet/timeline/timeline';
import { type Operation, OperationExecutor } from '../../../src/kubelet/volumemanager/operation-executor';
import { VirtualClock } from '../../../src/util/virtual-clock';

function setUp() {
  const clock = new VirtualClock();
  const timeline = new Timeline(clock, (text) => text);
  const life = new AbortController();
  const executor = new OperationExecutor({
    clock,
    timeline,
    who: 'kubelet',
    signal: life.signal,
    ended: () => undefined,
  });
  return { clock, timeline, executor };
}

function operation(name: Operation['name'], podUid: string, run: () => Promise<void>): Operation {
  return { name, key: { volume: 'vol', podUid }, about: 'vol', run };
}

const fails = async () => {
  throw new Error('no');
};
const never = () => new Promise<void>(() => undefined);

test('one operation at a time for a volume, but pods beside each other', () => {
  const { executor } = setUp();
  expect(executor.start(operation('volume_unmount', 'a', never))).toBe(true);
  expect(executor.start(operation('volume_unmount', 'b', never))).toBe(true);
  expect(executor.start(operation('volume_unmount', 'a', never))).toBe(false);
  expect(executor.start(operation('volume_mount', '', never))).toBe(false);
});

test('what failed waits, and says until when', async () => {
  const { executor, clock, timeline } = setUp();
  executor.start(operation('volume_mount', '', fails));
  await clock.advance(0);
  expect(executor.start(operation('volume_mount', '', fails))).toBe(false);
  expect(timeline.entries.at(-1)?.text).toBe(
    'volume_mount failed (try 1); No retries permitted until +0.5s (durationBeforeRetry 500ms). Error: no',
  );
  await clock.advance(501);
  expect(executor.start(operation('volume_mount', '', fails))).toBe(true);
  await clock.advance(0);
  expect(timeline.entries.at(-1)?.text).toContain('durationBeforeRetry 1s');
});

test('another operation on the same volume begins anew', async () => {
  const { executor, clock, timeline } = setUp();
  for (let count = 0; count < 3; count++) {
    executor.start(operation('volume_mount', '', fails));
    await clock.advance(5_000);
  }
  expect(executor.start(operation('unmount_device', '', fails))).toBe(true);
  await clock.advance(0);
  expect(timeline.entries.at(-1)?.text).toContain('unmount_device failed (try 1)');
  expect(timeline.entries.at(-1)?.text).toContain('durationBeforeRetry 500ms');
});

test('success forgets the failures', async () => {
  const { executor, clock } = setUp();
  executor.start(operation('volume_mount', '', fails));
  await clock.advance(1_000);
  executor.start(operation('volume_mount', '', async () => undefined));
  await clock.advance(0);
  expect(executor.all()).toEqual([]);
});
