import { formatProblem, parseExpectations } from '../../../../src/scenarios/language';
import { HEADER } from './support';

const one = (item: string) => parseExpectations(`expect:\n- ${item}\n`, 'e.yaml');
const problemsOf = (text: string) => parseExpectations(text, 'e.yaml').problems.map(formatProblem);

test('a file’s name cannot be a terminal’s command, nor break the line', () => {
  const { problems } = parseExpectations('expect: [{}]\n', 'a\n\u001b[2J.yaml');
  expect(problems.map(formatProblem)).toEqual([
    expect.stringMatching(/^a\\u000a\\u001b\[2J\.yaml:1:\d+: .+$/),
  ]);
});

describe('expectations', () => {
  it.each([
    [
      '{count: ">=4", rpc: ControllerPublishVolume, within: 3m, since: m1}',
      { kind: 'count', withinMs: 180_000, since: 'm1', count: { source: '>=4' } },
    ],
    ['{count: 1, rpc: Probe, after: podDeleted}', { kind: 'count', since: 'podDeleted' }],
    [
      '{never: NodeStageVolume, until: {rpc: ControllerPublishVolume, code: OK}, for: 5s}',
      {
        kind: 'never',
        forMs: 5000,
        calls: { methods: new Set(['NodeStageVolume']) },
        until: { methods: new Set(['ControllerPublishVolume']), code: { source: 'OK' } },
      },
    ],
    [
      '{never: NodeUnstageVolume, volume: {attributes: {variant: final}}}',
      {
        kind: 'never',
        calls: {
          methods: new Set(['NodeUnstageVolume']),
          volume: { attributes: { variant: { source: 'final' } } },
        },
      },
    ],
    [
      '{order: [NodeUnpublishVolume, {rpc: NodeUnstageVolume, code: OK}]}',
      { kind: 'order', calls: [{ methods: new Set(['NodeUnpublishVolume']) }, { code: { source: 'OK' } }] },
    ],
    [
      '{gap: {rpc: NodeStageVolume, ratio: 2, tolerance: 40%, max: 2m2s}}',
      { kind: 'gap', ratio: 2, tolerance: 0.4, minMs: undefined, maxMs: 122_000 },
    ],
    ['{overlap: none, service: node}', { kind: 'overlap', calls: { service: ['Node'] } }],
    [
      '{idempotent: NodeStageVolume}',
      { kind: 'idempotent', calls: { methods: new Set(['NodeStageVolume']) } },
    ],
    [
      '{eventually: {volume: "*", state: published}, within: 3m}',
      { kind: 'eventually', state: 'published', withinMs: 180_000, volume: { id: { source: '*' } } },
    ],
    ['{leak: {loops: 0, mounts: 0}, when: end}', { kind: 'leak', loops: 0, mounts: 0, frozen: undefined }],
    ['{fired: {rule: slow/a, times: 2}}', { kind: 'fired', rule: 'slow/a', times: { source: '2' } }],
    ['{fired: {rule: a}, optional: true}', { kind: 'fired', times: { source: '>=1' }, optional: true }],
    ['{count: 1, rpc: Probe, fired: "slow/*"}', { kind: 'count', calls: { fired: { source: 'slow/*' } } }],
    [
      '{event: {reason: "*"}, optional: true}',
      { kind: 'unavailable', why: 'needs a cluster: event asks the API server', optional: true },
    ],
    ['{probe: {mode: after}}', { kind: 'unavailable', why: 'needs a cluster: probe runs in a pod' }],
    [
      '{eventually: {registration: registered}, within: 90s}',
      { kind: 'registration', state: 'registered', withinMs: 90_000 },
    ],
    [
      '{eventually: {fault: hung, state: healed}}',
      { kind: 'unavailable', why: 'needs live faults, which are not available in this version' },
    ],
    [
      '{eventually: {volume: "*", writable: true}}',
      { kind: 'unavailable', why: 'needs a cluster: writable asks in a pod' },
    ],
  ])('%s', (item, expected) => {
    const { expectations, problems } = one(item);
    expect(problems.map(formatProblem)).toEqual([]);
    expect(expectations).toEqual([
      expect.objectContaining({ at: { line: 2, column: 3 }, optional: false, ...wanted(expected) }),
    ]);
  });

  const wanted = (expected: object) =>
    Object.fromEntries(
      Object.entries(expected).map(([key, value]) => [
        key,
        typeof value === 'object' && !Array.isArray(value)
          ? expect.objectContaining(deep(value))
          : Array.isArray(value) && typeof value[0] === 'object'
            ? value.map((entry) => expect.objectContaining(deep(entry)))
            : value,
      ]),
    );
  const deep = (value: object): object =>
    Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        key,
        typeof entry === 'object' && entry !== null && !(entry instanceof Set) && !Array.isArray(entry)
          ? expect.objectContaining(deep(entry))
          : entry,
      ]),
    );

  it('are named as they were written', () => {
    expect(one('{count: ">=4", rpc: [Probe, NodeGetInfo]}').expectations[0]?.source).toBe(
      '{count: ">=4", rpc: [Probe, NodeGetInfo]}',
    );
    const block = parseExpectations('expect:\n- count: 1\n  rpc: Probe # once\n', 'e.yaml');
    expect(block.expectations[0]?.source).toBe('{count: 1, rpc: Probe}');
  });

  it('are of a kind of their own, or of scenarios', () => {
    const kinds = (text: string) => parseExpectations(text, 'e.yaml').expectations.map(({ kind }) => kind);
    expect(
      kinds('apiVersion: fake-csi/v1\nkind: Expectations\nspec: {expect: [{leak: {loops: 0}}]}\n'),
    ).toEqual(['leak']);
    expect(kinds(`${HEADER}  expect: [{overlap: none}]\n---\nexpect: [{leak: {loops: 0}}]\n`)).toEqual([
      'overlap',
      'leak',
    ]);
  });

  it.each([
    ['', 'e.yaml:1:1: expected a list of expectations under expect:, found none'],
    ['expect: []', 'e.yaml:1:1: expected a list of expectations under expect:, found none'],
    ['expect: 3', 'e.yaml:1:9: expect: expected a list of expectations, found 3'],
    ['- 1', 'e.yaml:1:1: expected a map with expect:, found a list'],
    ['expct: []\nexpect: [{leak: {loops: 0}}]', 'e.yaml:1:1: unknown key "expct" (did you mean "expect"?)'],
    [
      'kind: Expectation\nspec: {}',
      'e.yaml:1:7: kind: expected Scenario or Expectations, found "Expectation" (did you mean "Expectations"?)',
    ],
    [
      'expect: [{cont: 3, rpc: Probe}]',
      'e.yaml:1:10: expect.0: expected one of the keys count, never, order, gap, overlap, idempotent, eventually, leak, event, probe, podCondition, fired (did you mean "count"?)',
    ],
    [
      'expect: [3]',
      'e.yaml:1:10: expect.0: expected an expectation such as {count: ">=2", rpc: NodeStageVolume}',
    ],
    [
      'expect: [{count: some, rpc: Probe}]',
      'e.yaml:1:18: expect.0.count: expected a count such as 2, ">=2", "<=3" or "2..4", found "some"',
    ],
    [
      'expect: [{count: 1, rpc: Prob}]',
      'e.yaml:1:26: expect.0.rpc: unknown RPC "Prob" (did you mean "Probe"?)',
    ],
    ['expect: [{count: 1, code: OKAY}]', 'e.yaml:1:27: expect.0.code: unknown status code "OKAY"'],
    ['expect: [{never: Prob}]', 'e.yaml:1:18: expect.0.never: unknown RPC "Prob" (did you mean "Probe"?)'],
    ['expect: [{never: {rpc: Probe}, rpc: Probe}]', 'e.yaml:1:32: expect.0.rpc: rpc is said twice'],
    ['expect: [{gap: {rpc: Probe}}]', 'e.yaml:1:11: expect.0.gap: expected one of ratio, min and max'],
    ['expect: [{leak: {}}]', 'e.yaml:1:11: expect.0.leak: expected one of loops, mounts and frozen'],
    ['expect: [{order: [Probe]}]', 'e.yaml:1:18: expect.0.order: expected two RPCs or more'],
    [
      'expect: [{count: 1, since: a, after: b}]',
      'e.yaml:1:31: expect.0.after: since and after mean the same: write one of them',
    ],
    [
      'expect: [{count: 1, within: 5}]',
      'e.yaml:1:29: expect.0.within: expected a duration such as 5s, found 5',
    ],
  ])('%s', (text, line) => {
    expect(problemsOf(text)).toEqual([line]);
  });
});
