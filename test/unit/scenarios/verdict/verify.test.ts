import type { TimelineEntry } from '../../../../src/journal/merge';
import type { ExpectationTest } from '../../../../src/scenarios/model';
import { type VerifyOptions, verify } from '../../../../src/scenarios/verdict/verify';
import type { Clock } from '../../../../src/util/clock';
import { count, EPOCH, expectation, Story, select } from './story';

/** Time that goes on only when somebody sleeps; entries come at theirs. */
class World {
  private nowMs = EPOCH;
  private readonly waiting = new Set<() => void>();
  ended = false;
  slept = 0;

  constructor(private readonly entries: readonly TimelineEntry[]) {}

  readonly clock: Clock = {
    now: () => this.nowMs,
    monotonic: () => this.nowMs - EPOCH,
    sleep: async (ms) => {
      this.nowMs += ms;
      this.slept += ms;
      this.wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };

  private wake(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  async *follow({ signal }: { signal: AbortSignal }) {
    let given = 0;
    let first = true;
    signal.addEventListener('abort', () => this.wake());
    try {
      while (!signal.aborted) {
        const due = this.entries.slice(given).filter(({ at }) => Date.parse(at) <= this.nowMs);
        given += due.length;
        if (due.length > 0 || first) yield { entries: due, current: true };
        first = false;
        await new Promise<void>((resolve) => {
          this.waiting.add(resolve);
        });
      }
    } finally {
      this.ended = true;
    }
  }
}

const stages = (source: string): ExpectationTest => ({
  kind: 'count',
  calls: select(['NodeStageVolume']),
  count: count(source),
  withinMs: undefined,
  since: undefined,
});

function run(story: Story, tests: ExpectationTest[], rest: Partial<VerifyOptions> = {}) {
  const world = new World(story.entries);
  const verdict = verify({
    expectations: tests.map((test) => expectation(test)),
    timeline: world,
    clock: world.clock,
    waitMs: 0,
    ...rest,
  });
  return { world, verdict };
}

describe('verify', () => {
  const story = new Story();
  story.event(0, 'started');
  story.call(0, 'NodeStageVolume', 'v1');
  story.call(5, 'NodeStageVolume', 'v1');
  story.call(20, 'NodeStageVolume', 'v1');

  it('judges what is there without waiting', async () => {
    const { world, verdict } = run(story, [stages('>=1'), stages('>=2')]);
    expect(await verdict).toMatchObject({
      passed: false,
      results: [{ status: 'passed' }, { status: 'failed' }],
      durationMs: 0,
    });
    expect(world.ended).toBe(true);
  });

  it('ends as soon as all is decided', async () => {
    const { world, verdict } = run(story, [stages('>=2')], { waitMs: 60_000 });
    expect(await verdict).toMatchObject({ passed: true });
    expect(world.slept).toBeLessThan(10_000);
  });

  it('waits to the end for what only the end can tell', async () => {
    const { world, verdict } = run(story, [stages('2')], { waitMs: 10_000 });
    expect(await verdict).toMatchObject({ passed: true, durationMs: 10_000 });
    expect(world.slept).toBe(10_000);
    expect(await run(story, [stages('2')], { waitMs: 30_000 }).verdict).toMatchObject({ passed: false });
  });

  it('lets time pass for never … for, and fails what it has no time for', async () => {
    const never: ExpectationTest = {
      kind: 'never',
      calls: select(['DeleteVolume']),
      forMs: 20_000,
      until: undefined,
      since: undefined,
    };
    expect(await run(story, [never], { waitMs: 30_000 }).verdict).toMatchObject({ passed: true });
    expect(await run(story, [never], { waitMs: 10_000 }).verdict).toMatchObject({
      passed: false,
      results: [{ status: 'pending' }],
    });
  });

  it('what held may still break while others are waited for', async () => {
    const overlapping = new Story();
    overlapping.event(0, 'started');
    overlapping.received(0, 'NodeStageVolume', { volumeId: 'v1' });
    overlapping.received(1, 'NodeStageVolume', { volumeId: 'v1' });
    const overlap: ExpectationTest = { kind: 'overlap', calls: select(['NodeStageVolume']) };
    expect(await run(overlapping, [overlap], { waitMs: 9_000 }).verdict).toMatchObject({ passed: true });
    expect(await run(overlapping, [overlap, stages('>=2')], { waitMs: 9_000 }).verdict).toMatchObject({
      passed: false,
      results: [{ status: 'failed' }, { status: 'passed' }],
    });
  });

  it('asks the world again until it is as wanted, and only for what is needed', async () => {
    let asked = 0;
    const world = {
      volumes: () => {
        throw new Error('nobody asked');
      },
      leaks: async () => {
        asked += 1;
        return { loops: asked < 4 ? 1 : 0, mounts: 0, frozen: 0 };
      },
    };
    const leak: ExpectationTest = { kind: 'leak', loops: 0, mounts: undefined, frozen: undefined };
    expect(await run(story, [leak], { waitMs: 60_000, world }).verdict).toMatchObject({ passed: true });
    expect(asked).toBe(4);
  });

  it('does not fail for what is optional', async () => {
    const why = 'no kubeconfig';
    const test = { kind: 'unavailable', why } as const;
    const optional = [expectation(test, { optional: true })];
    const needed = [expectation(test)];
    expect(await run(story, [], { expectations: optional }).verdict).toMatchObject({
      passed: true,
      results: [{ status: 'skipped', summary: why }],
    });
    expect(await run(story, [], { expectations: needed }).verdict).toMatchObject({
      passed: false,
      results: [{ status: 'unavailable' }],
    });
  });

  it('gives up when it is told to, and when the journal cannot be read', async () => {
    const patience = new AbortController();
    const world = new World(story.entries);
    const sleepless = { ...world.clock, sleep: () => new Promise<void>(() => undefined) };
    const endless = run(story, [stages('>=9')], {
      timeline: world,
      clock: sleepless,
      waitMs: 60_000,
      signal: patience.signal,
    });
    patience.abort(new Error('enough'));
    await expect(endless.verdict).rejects.toThrow('enough');
    expect(world.ended).toBe(true);
    const broken = {
      // biome-ignore lint/correctness/useYield: a journal that cannot be read gives nothing.
      async *follow() {
        throw new Error('EIO');
      },
    };
    await expect(run(story, [stages('>=9')], { timeline: broken }).verdict).rejects.toThrow('EIO');
  });
});
