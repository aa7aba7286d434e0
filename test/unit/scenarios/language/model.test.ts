import { ruleOf, scenarioOf } from './support';

const stepsOf = (rule: string) => ruleOf(rule).stages.map(({ steps }) => steps);

describe('what a scenario becomes', () => {
  it('has every default filled in', () => {
    const scenario = scenarioOf('  rules: [{match: {rpc: NodeStageVolume}, then: [{delay: 5s}]}]\n');
    expect(scenario).toEqual({
      name: 'slow',
      labels: {},
      seed: 0,
      enabled: true,
      expiresMs: undefined,
      discreet: false,
      limits: {
        maxFired: undefined,
        maxActive: undefined,
        maxVolumes: undefined,
        maxHangMs: undefined,
        allowDestructive: true,
        stopIf: [],
      },
      machines: {},
      expect: [],
      rules: [
        {
          name: 'rule-1',
          at: { line: 5, column: 11 },
          priority: 0,
          continue: false,
          destructive: false,
          match: { methods: new Set(['NodeStageVolume']) },
          when: { per: 'volume' },
          stages: [
            {
              count: undefined,
              probability: undefined,
              steps: [{ place: 'before', action: { kind: 'delay', delay: { kind: 'fixed', ms: 5000 } } }],
            },
          ],
        },
      ],
    });
  });

  it('counts by rule where calls are about no volume', () => {
    expect(ruleOf('{match: {rpc: NodeGetInfo}, sequence: "1*ABORTED -> ok"}').when.per).toBe('rule');
    expect(ruleOf('{match: {service: node}, sequence: "1*ABORTED -> ok"}').when.per).toBe('volume');
  });

  it('keeps limits, machines, labels and the rest', () => {
    const scenario = scenarioOf(`  seed: -3
  enabled: false
  expires: 30m
  discreet: true
  limits: {maxFired: 1, maxActive: 2, maxVolumes: 3, maxHang: 90s, allowDestructive: false, stopIf: ["node.fsFreePct < 5"]}
  machines: {attach: {initial: pending}}
  rules: []
`);
    expect(scenario).toMatchObject({
      seed: -3,
      enabled: false,
      expiresMs: 1_800_000,
      discreet: true,
      limits: { maxFired: 1, maxActive: 2, maxVolumes: 3, maxHangMs: 90_000, allowDestructive: false },
      machines: { attach: { initial: 'pending' } },
    });
    expect(scenario.limits.stopIf.map((stop) => stop.evaluate({ node: { fsFreePct: 4 } }))).toEqual([true]);
  });

  it('says where each step is taken', () => {
    const places = (then: string) =>
      stepsOf(`{match: {rpc: NodeStageVolume}, then: ${then}}`)[0]?.map(
        ({ place, action }) => `${place} ${action.kind}`,
      );
    expect(places('[{delay: 1s}, {set: {request.volume_context.a: b}}, {respond: {merge: {}}}]')).toEqual([
      'before delay',
      'before set',
      'after respond',
    ]);
    expect(places('[{delay: 1s}, {at: after}, {delay: 1s}, {error: ABORTED}]')).toEqual([
      'before delay',
      'after delay',
      'after error',
    ]);
    expect(places('[{at: mounted, delay: 1s}, {hang: release}]')).toEqual(['mounted delay', 'mounted hang']);
    expect(places('[{at: instead}]')).toEqual(['instead respond']);
    expect(places('[{at: instead}, {error: ABORTED}]')).toEqual(['instead error']);
  });

  it.each([
    ['{delay: {uniform: [1s, 5s]}}', { kind: 'delay', delay: { kind: 'uniform', fromMs: 1000, toMs: 5000 } }],
    [
      '{delay: {lognormal: {median: 2s, sigma: 0.6}, max: 60s}}',
      { kind: 'delay', delay: { kind: 'lognormal', medianMs: 2000, sigma: 0.6, maxMs: 60_000 } },
    ],
    [
      '{delay: {ramp: [50ms, 1s], every: 3m}}',
      { kind: 'delay', delay: { kind: 'ramp', stepsMs: [50, 1000], everyMs: 180_000 } },
    ],
    ['{hang: {}}', { kind: 'hang', until: { kind: 'deadline' } }],
    ['{hang: {until: 60s}}', { kind: 'hang', until: { kind: 'time', ms: 60_000 } }],
    [
      '{set: {request.volume_capability.mount.fs_type: xfs}}',
      { kind: 'set', fields: [{ path: ['volume_capability', 'mount', 'fs_type'], value: 'xfs' }] },
    ],
    [
      '{set: {\'request.volume_context["a.b/c"]\': null}}',
      { kind: 'set', fields: [{ path: ['volume_context', 'a.b/c'], value: null }] },
    ],
    ['{disk: missing}', { kind: 'disk', condition: { kind: 'missing' } }],
    ['{disk: {foreignFs: xfs}}', { kind: 'disk', condition: { kind: 'foreignFs', fsType: 'xfs' } }],
    ['{disk: {truncated: 50%}}', { kind: 'disk', condition: { kind: 'truncated', keep: 0.5 } }],
    ['{disk: {dirtyLog: true}}', { kind: 'disk', condition: { kind: 'dirtyLog' } }],
    ['{process: {exit: 137}}', { kind: 'process', act: { kind: 'exit', code: 137 } }],
    ['{process: {stopFor: 20s}}', { kind: 'process', act: { kind: 'stop', forMs: 20_000 } }],
    ['{process: {closeSocket: true}}', { kind: 'process', act: { kind: 'closeSocket', forMs: undefined } }],
    ['{process: {closeSocket: 5s}}', { kind: 'process', act: { kind: 'closeSocket', forMs: 5000 } }],
  ])('%s', (step, action) => {
    expect(
      stepsOf(`{match: {rpc: NodeStageVolume}, destructive: true, then: [${step}]}`)[0]?.map(
        (made) => made.action,
      ),
    ).toEqual([action]);
  });

  it('has errors by name or number, with their message', () => {
    const [[step] = []] = stepsOf(
      '{match: {rpc: NodeStageVolume}, then: [{error: {code: 14, message: "no $' + '{request.volume_id}"}}]}',
    );
    if (step?.action.kind !== 'error') throw new Error('expected an error');
    expect(step.action.code).toBe('UNAVAILABLE');
    expect(step.action.message.render({ request: { volume_id: 'v' } })).toBe('no v');
  });

  it('keeps the digits of an int64', () => {
    const [[step] = []] = stepsOf(
      '{match: {rpc: CreateVolume}, then: [{respond: {merge: {volume: {capacity_bytes: 9007199254740993}}}}]}',
    );
    expect(step?.action).toMatchObject({
      kind: 'respond',
      merge: { volume: { capacity_bytes: '9007199254740993' } },
    });
  });

  it('knows when', () => {
    const { when } = ruleOf(
      '{match: {rpc: NodeStageVolume}, when: {per: node, nth: "2..3", every: 2, skip: 1, times: 4, probability: 50%, after: {event: published, delay: 10s}, window: {cron: "*/5 * * * *", for: 20s}}, then: [{delay: 1s}]}',
    );
    expect(when).toMatchObject({
      per: 'node',
      every: 2,
      skip: 1,
      times: 4,
      probability: 0.5,
      after: { event: 'published', delayMs: 10_000 },
      window: { kind: 'cron', cron: '*/5 * * * *', forMs: 20_000 },
    });
    expect([1, 2, 3, 4].filter((ordinal) => when.nth?.test(ordinal))).toEqual([2, 3]);
    expect(
      ruleOf(
        '{match: {rpc: NodeStageVolume}, when: {window: {up: 50s, down: 10s}, after: 30s}, then: [{delay: 1s}]}',
      ).when,
    ).toMatchObject({
      window: { kind: 'duty', upMs: 50_000, downMs: 10_000 },
      after: { event: undefined, delayMs: 30_000 },
    });
  });

  it('takes one step of goto for each machine', () => {
    const { rules } = scenarioOf(`  machines: {a: {initial: x}, b: {initial: x}}
  rules: [{match: {rpc: Probe}, when: {machine: {a: x}}, then: [{goto: {a: y, b: z}}]}]
`);
    expect(rules[0]?.stages[0]?.steps.map(({ action }) => action)).toEqual([
      { kind: 'goto', machine: 'a', state: 'y' },
      { kind: 'goto', machine: 'b', state: 'z' },
    ]);
    expect(rules[0]?.when.machine).toEqual({ a: ['x'] });
  });
});
