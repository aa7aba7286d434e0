import type { ExpectationTest, VolumeState } from '../../../../src/scenarios/model';
import { count, judge, patterns, Story, select } from './story';

type Eventually = Extract<ExpectationTest, { kind: 'eventually' }>;
const eventually = (state: Eventually['state'], rest: Partial<Eventually> = {}): Eventually => ({
  kind: 'eventually',
  volume: undefined,
  state,
  withinMs: undefined,
  ...rest,
});

describe('eventually', () => {
  const twoVolumes = () => {
    const story = new Story();
    story.create(0, 'pvc-1', 'v1');
    story.create(1, 'pvc-2', 'v2');
    story.call(2, 'NodePublishVolume', 'v1', { targetPath: '/t' });
    return story;
  };

  it('wants all volumes that match to have been there', () => {
    const story = twoVolumes();
    expect(judge(story, eventually('published'))).toMatchObject({
      status: 'pending',
      summary: 'v2 is created, wanted published',
    });
    story.call(3, 'NodeUnpublishVolume', 'v1', { targetPath: '/t' });
    story.call(4, 'NodePublishVolume', 'v2', { targetPath: '/t' });
    expect(judge(story, eventually('published')).status).toBe('passed');
  });

  it('looks at those that match only, and wants one', () => {
    const story = twoVolumes();
    expect(judge(story, eventually('published', { volume: { name: patterns('pvc-1') } })).status).toBe(
      'passed',
    );
    const none = eventually('published', { volume: { name: patterns('pvc-9') } });
    expect(judge(story, none).status).toBe('pending');
    expect(judge(story, none, { final: true })).toMatchObject({
      status: 'failed',
      summary: 'there is no such volume, wanted one to be published',
    });
  });

  it('ends with its time', () => {
    const story = twoVolumes();
    story.call(70, 'NodePublishVolume', 'v2', { targetPath: '/t' });
    expect(judge(story, eventually('published', { withinMs: 60_000 })).status).toBe('failed');
  });

  it.each<[string, (story: Story) => void, VolumeState | 'deleted']>([
    ['attach', (s) => s.call(3, 'ControllerPublishVolume', 'v2', { nodeId: 'a' }), 'attached'],
    ['stage', (s) => s.call(3, 'NodeStageVolume', 'v2', { stagingTargetPath: '/s' }), 'staged'],
    ['delete', (s) => s.call(3, 'DeleteVolume', 'v2'), 'deleted'],
    ['the driver itself', (s) => s.event(3, 'volumeDeleted', { volumeId: 'v2' }), 'deleted'],
  ])('knows states by %s', (_, act, state) => {
    const story = twoVolumes();
    const test = eventually(state, { volume: { id: patterns('v2') } });
    expect(judge(story, test).status).toBe('pending');
    act(story);
    expect(judge(story, test).status).toBe('passed');
  });

  it('comes back down by the calls that undo', () => {
    const story = twoVolumes();
    story.call(3, 'ControllerPublishVolume', 'v1', { nodeId: 'a' });
    story.event(4, 'mark');
    story.call(5, 'NodeUnpublishVolume', 'v1', { targetPath: '/t' });
    story.call(6, 'ControllerUnpublishVolume', 'v1');
    const options = { since: { kind: 'mark', name: undefined } } as const;
    const gone = eventually('created', { volume: { id: patterns('v1') } });
    expect(judge(story, gone, options).status).toBe('passed');
  });

  it('believes the records more than the calls', () => {
    const story = twoVolumes();
    const test = eventually('published', { volume: { name: patterns('pvc-1') } });
    const lie = { volumes: [{ id: 'v1', state: 'staged' as const }] };
    expect(judge(story, test, { world: lie })).toMatchObject({
      status: 'pending',
      summary: 'v1 is staged, wanted published',
    });
    const truth = { volumes: [{ id: 'v1', state: 'published' as const }] };
    expect(judge(story, test, { world: truth }).status).toBe('passed');
  });

  it('looks at the calls where its time was over before the records could be read', () => {
    const when = { at: 200, final: true, world: { volumes: [{ id: 'v1', state: 'created' as const }] } };
    const test = (name: string) =>
      eventually('published', { volume: { name: patterns(name) }, withinMs: 60_000 });
    expect(judge(twoVolumes(), test('pvc-1'), when)).toMatchObject({ status: 'passed' });
    expect(judge(twoVolumes(), test('pvc-2'), when)).toMatchObject({
      status: 'failed',
      summary: expect.stringMatching(/^v2 is .*, wanted published within 1m/),
    });
  });

  it('takes what has gone from the records for deleted', () => {
    const test = eventually('deleted', { volume: { id: patterns('v1') } });
    expect(judge(twoVolumes(), test, { world: { volumes: [] } }).status).toBe('passed');
  });

  it('matches records by what only they know', () => {
    const test = eventually('staged', { volume: { pvcName: patterns('data-0') } });
    const volumes = [{ id: 'x', state: 'staged' as const, pvc: { name: 'data-0' } }];
    expect(judge(new Story(), test, { world: { volumes } }).status).toBe('passed');
  });
});

describe('leak', () => {
  const test: ExpectationTest = { kind: 'leak', loops: 0, mounts: 0, frozen: undefined };
  it.each([
    [0, 0, 'passed', 'passed'],
    [1, 0, 'pending', 'failed'],
    [0, 2, 'pending', 'failed'],
  ])('loops %i, mounts %i', (loops, mounts, now, end) => {
    const world = { leaks: { loops, mounts, frozen: 7 } };
    expect(judge(new Story(), test, { world }).status).toBe(now);
    expect(judge(new Story(), test, { world, final: true })).toMatchObject({
      status: end,
      summary: `loops ${loops}, wanted 0; mounts ${mounts}, wanted 0`,
    });
  });

  it('is not known without a driver', () =>
    expect(judge(new Story(), test, { final: true }).status).toBe('unavailable'));
});

describe('fired', () => {
  const fired = (rule: string, source = '>=1'): ExpectationTest => ({
    kind: 'fired',
    rule,
    times: count(source),
  });

  it.each([
    ['slow', '>=2', 'passed', 'passed'],
    ['s/slow', '>=2', 'passed', 'passed'],
    ['other/slow', '>=1', 'pending', 'failed'],
    ['slow', '>=3', 'pending', 'failed'],
    ['slow', '<=1', 'failed', 'failed'],
    ['slow', '2', 'pending', 'passed'],
  ])('%s %s', (rule, source, now, end) => {
    const story = new Story();
    story.call(0, 'NodeStageVolume', 'v1', { fired: ['s/slow'] });
    story.call(1, 'NodeStageVolume', 'v1', { fired: ['t/other', 's/slow'] });
    expect(judge(story, fired(rule, source)).status).toBe(now);
    expect(judge(story, fired(rule, source), { final: true }).status).toBe(end);
  });

  it('names the near miss of a rule that never fired', () => {
    const story = new Story();
    story.call(0, 'NodeStageVolume', 'v1', {
      misses: [{ rule: 's/slow', key: 'match.volume.storageClass', found: '"fast"', wanted: 'slow*' }],
    });
    expect(judge(story, fired('slow'), { final: true })).toMatchObject({
      status: 'failed',
      summary: 'rule slow never fired, wanted >=1',
      nearMiss: 'rule slow did not fire: volume.storageClass was "fast", wanted "slow*" (call 1)',
    });
  });

  it.each([
    [['slow'], 'fast', 'no rule of that name is armed; there are s/slow'],
    [[{ name: 'slow', methods: ['NodeStageVolume'] }], 'slow', 'no call of NodeStageVolume came'],
    [['slow'], 'slow', 'no call came near it'],
  ])('with rules %j and no call: %s', (rules, rule, nearMiss) => {
    const story = new Story();
    story.event(0, 'scenarioArmed', { scenario: 's', rules });
    expect(judge(story, fired(rule), { final: true }).nearMiss).toBe(nearMiss);
  });
});

describe('where everything begins', () => {
  const stages = (source: string): ExpectationTest => ({
    kind: 'count',
    calls: select(['NodeStageVolume']),
    count: count(source),
    withinMs: undefined,
    since: undefined,
  });
  const two = (middle: (story: Story) => void) => {
    const story = new Story();
    story.event(0, 'scenarioArmed', { scenario: 's', armedAt: 1 });
    story.call(1, 'NodeStageVolume', 'v1');
    middle(story);
    story.call(9, 'NodeStageVolume', 'v1');
    return story;
  };

  it.each<[string, (story: Story) => void, string]>([
    ['a restart', (s) => s.event(2, 'scenarioArmed', { scenario: 's', armedAt: 1 }), '2'],
    ['another process', (s) => s.event(2, 'scenarioArmed', { scenario: 's', armedAt: 1 }, 'node'), '2'],
    ['another scenario', (s) => s.event(2, 'scenarioArmed', { scenario: 't', armedAt: 2 }), '2'],
    ['a new arming', (s) => s.event(2, 'scenarioArmed', { scenario: 's', armedAt: 2 }), '1'],
    [
      'a disarming and an arming that do not say when',
      (s) => {
        s.event(2, 'scenarioDisarmed', { scenario: 's' });
        s.event(3, 'scenarioArmed', { scenario: 's' });
        s.event(4, 'scenarioDisarmed', { scenario: 's' }, 'node');
      },
      '1',
    ],
  ])('after %s', (_, middle, wanted) => {
    const story = two(middle);
    expect(judge(story, stages(wanted), { scenario: 's', final: true }).status).toBe('passed');
    expect(judge(story, stages('2'), { final: true }).status).toBe('passed');
  });

  it.each([
    [{ kind: 'time', ms: Date.parse('2026-01-01T00:00:05.000Z') }, '1'],
    [{ kind: 'seq', seq: 4 }, '1'],
    [{ kind: 'mark', name: 'm' }, '1'],
    [{ kind: 'mark', name: 'x' }, '0'],
  ] as const)('since %j', (since, wanted) => {
    const story = two((s) => s.event(3, 'mark', { name: 'm' }));
    expect(judge(story, stages(wanted), { since, final: true }).status).toBe('passed');
  });
});
