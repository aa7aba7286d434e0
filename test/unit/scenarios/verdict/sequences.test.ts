import type { ExpectationTest } from '../../../../src/scenarios/model';
import { judge, patterns, Story, select } from './story';

type Never = Extract<ExpectationTest, { kind: 'never' }>;
const never = (rest: Partial<Never> = {}): Never => ({
  kind: 'never',
  calls: select(['NodeStageVolume']),
  forMs: undefined,
  until: undefined,
  since: undefined,
  ...rest,
});
const attachedOk = select(['ControllerPublishVolume'], { code: patterns('OK') });

describe('never', () => {
  it('passes only after its time has passed, and fails at once', () => {
    const story = new Story();
    story.event(0, 'started');
    const test = never({ forMs: 60_000 });
    expect(judge(story, test, { at: 59 })).toMatchObject({
      status: 'pending',
      summary: 'none for 59s so far; 1m have to pass (--wait)',
    });
    expect(judge(story, test, { at: 59, final: true }).status).toBe('pending');
    expect(judge(story, test, { at: 60 }).status).toBe('passed');
    story.call(61, 'NodeStageVolume', 'v1');
    expect(judge(story, test).status).toBe('passed');
    const early = new Story();
    early.event(0, 'started');
    early.received(5, 'NodeStageVolume');
    expect(judge(early, test)).toMatchObject({ status: 'failed', calls: [1] });
  });

  it('waits until another call, volume by volume', () => {
    const story = new Story();
    story.call(0, 'ControllerPublishVolume', 'v1', { code: 'DEADLINE_EXCEEDED' });
    expect(judge(story, never({ until: attachedOk })).status).toBe('pending');
    story.call(1, 'ControllerPublishVolume', 'v1');
    story.call(2, 'NodeStageVolume', 'v1');
    expect(judge(story, never({ until: attachedOk })).status).toBe('passed');
    story.call(3, 'NodeStageVolume', 'v2', {
      misses: [{ rule: 's/r', key: 'node', found: '"a"', wanted: 'b' }],
    });
    expect(judge(story, never({ until: attachedOk }))).toMatchObject({
      status: 'failed',
      summary: 'call 4 (NodeStageVolume) came 3s after the start',
      nearMiss: 'rule r did not fire: node was "a", wanted "b" (call 4)',
    });
  });

  it('holds to the end without either', () => {
    expect(judge(new Story(), never()).status).toBe('pending');
    expect(judge(new Story(), never(), { final: true }).status).toBe('passed');
  });
});

describe('order', () => {
  const test: ExpectationTest = {
    kind: 'order',
    calls: [
      select(['NodeUnpublishVolume']),
      select(['NodeUnstageVolume']),
      select(['ControllerUnpublishVolume']),
    ],
  };

  it('wants every volume that began to see all of them', () => {
    const story = new Story();
    expect(judge(story, test).status).toBe('pending');
    story.call(0, 'NodeUnpublishVolume', 'v1');
    story.call(1, 'NodeUnstageVolume', 'v1', { code: 'INTERNAL' });
    story.call(2, 'NodeUnpublishVolume', 'v2');
    story.call(3, 'NodeUnstageVolume', 'v1');
    story.call(4, 'NodeUnstageVolume', 'v1');
    story.call(5, 'ControllerUnpublishVolume', 'v1');
    expect(judge(story, test)).toMatchObject({
      status: 'pending',
      summary: 'NodeUnstageVolume has not come for v2',
    });
    expect(judge(story, test, { final: true }).status).toBe('failed');
    story.call(6, 'NodeUnstageVolume', 'v2');
    story.call(7, 'ControllerUnpublishVolume', 'v2');
    expect(judge(story, test)).toMatchObject({ status: 'passed', summary: 'in this order for 2 volumes' });
  });

  it('fails for good on the first wrong step', () => {
    const story = new Story();
    story.call(0, 'NodeUnpublishVolume', 'v1');
    story.call(1, 'ControllerUnpublishVolume', 'v1');
    expect(judge(story, test).summary).toBe(
      'NodeUnstageVolume had not come before ControllerUnpublishVolume for v1',
    );
    story.call(2, 'NodeUnstageVolume', 'v1');
    expect(judge(story, test)).toMatchObject({
      status: 'failed',
      summary: 'NodeUnstageVolume came after ControllerUnpublishVolume for v1',
    });
  });
});

describe('overlap', () => {
  const test: ExpectationTest = { kind: 'overlap', calls: select(['NodeUnstageVolume', 'CreateVolume']) };

  it('allows one at a time for each volume', () => {
    const story = new Story();
    expect(judge(story, test).status).toBe('pending');
    expect(judge(story, test, { final: true }).status).toBe('failed');
    const first = story.received(0, 'NodeUnstageVolume', { volumeId: 'v1' });
    const other = story.received(0, 'NodeUnstageVolume', { volumeId: 'v2' });
    story.answered(1, first, 'NodeUnstageVolume');
    const second = story.received(1, 'NodeUnstageVolume', { volumeId: 'v1' });
    story.answered(2, second, 'NodeUnstageVolume');
    story.answered(2, other, 'NodeUnstageVolume');
    expect(judge(story, test)).toMatchObject({ status: 'passed', summary: '3 calls, one at a time' });
  });

  it.each([
    ['NodeUnstageVolume', { volumeId: 'v1' }],
    ['CreateVolume', { request: { name: 'pvc-1' } }],
  ] as const)('fails on two %s at once', (method, parts) => {
    const story = new Story();
    story.received(0, method, parts);
    story.received(1, method, parts);
    expect(judge(story, test)).toMatchObject({ status: 'failed', calls: [1, 2] });
  });

  it('ends a call with its process, and with the deadline of its client', () => {
    const story = new Story();
    story.received(0, 'NodeUnstageVolume', { volumeId: 'v1' });
    story.event(1, 'started');
    story.received(2, 'NodeUnstageVolume', { volumeId: 'v1', timeoutMs: 5_000 });
    story.received(7, 'NodeUnstageVolume', { volumeId: 'v1' });
    expect(judge(story, test).status).toBe('passed');
  });
});

describe('gap', () => {
  const gap = (rest: object = {}): ExpectationTest => ({
    kind: 'gap',
    calls: select(['NodeStageVolume']),
    ratio: undefined,
    tolerance: 0.4,
    minMs: undefined,
    maxMs: undefined,
    ...rest,
  });
  const failures = (times: number[]) => {
    const story = new Story();
    for (const s of times) story.call(s, 'NodeStageVolume', 'v1', { code: 'INTERNAL' });
    return story;
  };

  it.each([
    ['one call', [0], { minMs: 1 }, 'pending', 'failed'],
    ['two calls for a ratio', [0, 1], { ratio: 2 }, 'pending', 'failed'],
    ['a backoff', [0, 0.5, 1.6, 3.7, 7.9], { ratio: 2 }, 'passed', 'passed'],
    ['no backoff', [0, 1, 2, 3], { ratio: 2 }, 'failed', 'failed'],
    ['a backoff at its cap', [0, 4, 12, 24.1, 36.2], { ratio: 2, maxMs: 12_000 }, 'passed', 'passed'],
    ['a backoff above its cap', [0, 4, 12, 30], { ratio: 2, maxMs: 12_000 }, 'failed', 'failed'],
    ['gaps that are long enough', [0, 2, 4], { minMs: 2_000 }, 'passed', 'passed'],
    ['a gap that is too short', [0, 2, 3], { minMs: 2_000 }, 'failed', 'failed'],
    ['a gap that is too long', [0, 2, 5], { maxMs: 2_000 }, 'failed', 'failed'],
  ])('%s', (_, times, rest, now, end) => {
    expect(judge(failures(times), gap(rest)).status).toBe(now);
    expect(judge(failures(times), gap(rest), { final: true }).status).toBe(end);
  });

  it('begins anew after a success, and for every volume', () => {
    const story = failures([0, 1, 3]);
    story.call(7, 'NodeStageVolume', 'v1');
    for (const s of [100, 101, 103]) story.call(s, 'NodeStageVolume', 'v1', { code: 'INTERNAL' });
    story.call(102, 'NodeStageVolume', 'v2', { code: 'INTERNAL' });
    expect(judge(story, gap({ ratio: 2 })).status).toBe('passed');
  });

  it('says which call broke it', () => {
    expect(judge(failures([0, 1, 2]), gap({ ratio: 2 }))).toMatchObject({
      summary: 'a gap of 1s, 1.00 times the 1s before, wanted 2 ± 40% (call 3)',
      calls: [2, 3],
    });
  });
});

describe('idempotent', () => {
  const test: ExpectationTest = {
    kind: 'idempotent',
    calls: select(['CreateVolume', 'ControllerPublishVolume', 'CreateSnapshot']),
  };

  it('compares what was asked the same', () => {
    const story = new Story();
    expect(judge(story, test).status).toBe('pending');
    expect(judge(story, test, { final: true }).status).toBe('failed');
    story.create(0, 'pvc-1', 'v1');
    story.create(1, 'pvc-1', 'v1');
    story.create(2, 'pvc-2', 'v2');
    expect(judge(story, test)).toMatchObject({
      status: 'passed',
      summary: '3 calls, 1 repeat answered alike',
    });
    story.create(3, 'pvc-2', 'v3');
    expect(judge(story, test)).toMatchObject({ status: 'failed', calls: [3, 4] });
  });

  it('does not hold a new beginning against the driver', () => {
    const story = new Story();
    story.create(0, 'pvc-1', 'v1');
    story.call(1, 'DeleteVolume', 'v1');
    story.create(2, 'pvc-1', 'v2');
    const attach = { nodeId: 'a', request: { node_id: 'a' } };
    story.call(3, 'ControllerPublishVolume', 'v2', { ...attach, response: { publish_context: { d: '1' } } });
    story.call(4, 'ControllerUnpublishVolume', 'v2', { nodeId: 'a' });
    story.call(5, 'ControllerPublishVolume', 'v2', { ...attach, response: { publish_context: { d: '2' } } });
    expect(judge(story, test).status).toBe('passed');
  });

  it('lets a snapshot become ready', () => {
    const story = new Story();
    for (const ready_to_use of [false, true])
      story.call(0, 'CreateSnapshot', 'v1', {
        request: { name: 's' },
        response: { snapshot: { snapshot_id: 's1', ready_to_use } },
      });
    expect(judge(story, test).summary).toBe('2 calls, 1 repeat answered alike');
  });
});
