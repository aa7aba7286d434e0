import type { ExpectationTest } from '../../../../src/scenarios/model';
import { count, judge, patterns, Story, select } from './story';

type Count = Extract<ExpectationTest, { kind: 'count' }>;
const wants = (source: string, rest: Partial<Count> = {}): Count => ({
  kind: 'count',
  calls: select(['NodeStageVolume']),
  count: count(source),
  withinMs: undefined,
  since: undefined,
  ...rest,
});

const stages = (times: number[], code = 'OK') => {
  const story = new Story();
  for (const s of times) story.call(s, 'NodeStageVolume', 'v1', { code });
  return story;
};

describe('count', () => {
  it.each([
    ['>=2', 1, 'pending', 'failed'],
    ['>=2', 2, 'passed', 'passed'],
    ['<=2', 2, 'pending', 'passed'],
    ['<=2', 3, 'failed', 'failed'],
    ['2', 1, 'pending', 'failed'],
    ['2', 2, 'pending', 'passed'],
    ['2', 3, 'failed', 'failed'],
    ['2..4', 4, 'pending', 'passed'],
    ['2..4', 5, 'failed', 'failed'],
    ['!=2', 1, 'pending', 'passed'],
    ['!=2', 3, 'passed', 'passed'],
    ['1000', 3, 'pending', 'failed'],
  ])('%s with %i: %s, and %s in the end', (source, n, now, end) => {
    const story = stages(Array.from({ length: n }, (_, i) => i));
    expect(judge(story, wants(source)).status).toBe(now);
    expect(judge(story, wants(source), { final: true }).status).toBe(end);
  });

  it('counts within a time, and then knows', () => {
    const story = stages([0, 10, 70]);
    const test = wants('>=3', { withinMs: 60_000 });
    expect(judge(story, test, { at: 30 })).toMatchObject({ status: 'pending' });
    expect(judge(story, test)).toMatchObject({
      status: 'failed',
      summary: '2 calls within 1m, and 1 later, wanted >=3',
      calls: [1, 2],
    });
    expect(judge(story, wants('2', { withinMs: 60_000 })).status).toBe('passed');
  });

  it('counts a call that is told by its answer when it is answered', () => {
    const story = new Story();
    const call = story.received(1, 'NodeStageVolume', { volumeId: 'v1' });
    const failed = wants('1', {
      calls: select(['NodeStageVolume'], { code: patterns('INTERNAL') }),
      withinMs: 60_000,
    });
    expect(judge(story, failed).summary).toContain('0 calls');
    expect(judge(story, wants('1')).summary).toContain('1 call,');
    story.answered(70, call, 'NodeStageVolume', { code: 'INTERNAL' });
    expect(judge(story, failed).status).toBe('failed');
  });

  it('names the call that came nearest, and the rule that did not fire for it', () => {
    const story = new Story();
    story.call(0, 'NodeGetInfo');
    story.call(1, 'NodeStageVolume', 'v1', {
      nodeId: 'b',
      code: 'OK',
      misses: [{ rule: 's/slow', key: 'match.volume.storageClass', found: '"fast"', wanted: 'slow*' }],
    });
    const calls = select(['NodeStageVolume'], { node: patterns('b'), code: patterns('INTERNAL') });
    expect(judge(story, wants('>=1', { calls }), { final: true })).toMatchObject({
      status: 'failed',
      nearMiss:
        'call 2 (NodeStageVolume) does not count: code was "OK", wanted "INTERNAL"; ' +
        'rule slow did not fire: volume.storageClass was "fast", wanted "slow*" (call 2)',
    });
  });

  it('tells which rule did not fire when there are too few calls', () => {
    const story = new Story();
    const misses = [{ rule: 's/slow', key: 'when.times', found: '2', wanted: '2' }];
    story.call(1, 'NodeStageVolume', 'v1', { misses });
    expect(judge(story, wants('>=2'), { final: true }).nearMiss).toBe(
      'rule slow did not fire: when.times was 2, wanted "2" (call 1)',
    );
  });

  describe('since', () => {
    const story = stages([0, 1]);
    story.event(2, 'mark', { name: 'a' });
    story.call(3, 'NodeStageVolume', 'v1');
    story.event(4, 'mark', { name: 'b' });
    story.call(5, 'NodePublishVolume', 'v1', { fired: ['s/late'] });
    story.call(6, 'NodeStageVolume', 'v1');
    story.call(7, 'NodeStageVolume', 'v1');

    it.each([
      ['mark', 2],
      ['mark:a', 3],
      ['published', 2],
      ['fired:late', 2],
    ])('%s: %i', (since, n) =>
      expect(judge(story, wants(String(n), { since }), { final: true })).toMatchObject({ status: 'passed' }),
    );

    it('waits for what has not come, and fails in the end', () => {
      const test = wants('>=1', { since: 'mark:c' });
      expect(judge(story, test).status).toBe('pending');
      expect(judge(story, test, { final: true })).toMatchObject({
        status: 'failed',
        summary: expect.stringContaining('mark:c'),
      });
    });

    it('says that the cluster is not known', () => {
      expect(judge(story, wants('>=1', { since: 'podDeleted' }))).toMatchObject({
        status: 'unavailable',
        summary: expect.stringContaining('"podDeleted" happens in the cluster'),
      });
    });

    it('does not count a call that was under way already', () => {
      const crossing = new Story();
      const call = crossing.received(0, 'NodeStageVolume');
      crossing.event(1, 'mark', { name: 'a' });
      crossing.answered(2, call, 'NodeStageVolume');
      const test = wants('0', { since: 'mark', calls: select(undefined, { code: patterns('OK') }) });
      expect(judge(crossing, test, { final: true }).status).toBe('passed');
    });
  });
});
