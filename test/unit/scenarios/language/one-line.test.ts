import { formatProblem, parseRule, parseScenarios } from '../../../../src/scenarios/language';

describe('a rule in one line', () => {
  it('is a scenario file with that rule', () => {
    const {
      text = '',
      scenario,
      problems,
    } = parseRule('NodeStageVolume pvc=db/data-0: 2*UNAVAILABLE(busy) -> 1*delay(20s) -> ok', {
      name: 'busy-db',
      expires: '10m',
    });
    expect(problems).toEqual([]);
    expect(scenario).toMatchObject({ name: 'busy-db', expiresMs: 600_000 });
    const [read] = parseScenarios(text, 'a.yaml').scenarios;
    expect(read?.rules[0]?.stages.map(({ count }) => count)).toEqual([2, 1, undefined]);
    expect(read?.rules[0]?.match).toMatchObject({
      methods: new Set(['NodeStageVolume']),
      volume: { pvcNamespace: { source: 'db' }, pvcName: { source: 'data-0' } },
    });
  });

  it('takes every condition', () => {
    const { scenario, problems } = parseRule(
      'NodePublishVolume pvc=data-0 volume=v:1 name=n class=fast scenario=s fsType=ext4 accessMode=SINGLE_NODE_WRITER block=false ' +
        'capacity=>=1Gi node=w* pod=db/app-0 state=staged where="request.readonly == true" attr.a.b/c=d param.k="x y" ' +
        'per=pod nth=2.. every=3 skip=1 times=5 p=20% after=5s: 1*ABORTED -> ok',
    );
    expect(problems.map(formatProblem)).toEqual([]);
    const [rule] = scenario?.rules ?? [];
    expect(rule?.match).toMatchObject({
      node: { source: 'w*' },
      volume: {
        pvcName: { source: 'data-0' },
        id: { source: 'v:1' },
        name: { source: 'n' },
        storageClass: { source: 'fast' },
        parameters: { scenario: { source: 's' }, k: { source: 'x y' } },
        attributes: { 'a.b/c': { source: 'd' } },
        fsType: { source: 'ext4' },
        accessMode: { source: 'SINGLE_NODE_WRITER' },
        block: false,
        capacity: { source: '>=1Gi' },
      },
      pod: { namespace: { source: 'db' }, name: { source: 'app-0' } },
      state: ['staged'],
      where: { source: 'request.readonly == true' },
    });
    expect(rule?.when).toMatchObject({
      per: 'pod',
      every: 3,
      skip: 1,
      times: 5,
      probability: 0.2,
      after: { event: undefined, delayMs: 5000 },
    });
  });

  it('takes a service, and a pattern of RPCs', () => {
    expect([...(parseRule('node: ABORTED').scenario?.rules[0]?.match.methods ?? [])]).toContain(
      'NodeGetInfo',
    );
    expect(parseRule('*Publish*: ABORTED').scenario?.rules[0]?.match.methods?.size).toBe(2);
  });

  it.each([
    ['', 'rule:1:1: expected ": " and a sequence such as 2*UNAVAILABLE -> ok'],
    ['NodeStageVolume', 'rule:1:16: expected ": " and a sequence such as 2*UNAVAILABLE -> ok'],
    [': ok', 'rule:1:1: expected an RPC such as NodeStageVolume before ":"'],
    ['NodeStageVolum: ok', 'rule:1:1: unknown RPC "NodeStageVolum" (did you mean "NodeStageVolume"?)'],
    ['Probe:', 'rule:1:7: expected ok, delay, hang or a status code, found the end'],
    [
      'Probe: 2*ABORTD',
      'rule:1:10: unknown task "ABORTD" (did you mean "ABORTED"?): expected ok, delay, hang or a status code',
    ],
    ['Probe node: ok', 'rule:1:7: expected a condition such as pvc=db/data-0, found "node"'],
    ['Probe nod="a: ok', 'rule:1:7: a quote that is not closed'],
    [
      'NodeStageVolume node=/(/: ok',
      'rule:1:23: expected a regular expression in RE2 syntax: missing closing ): `(`',
    ],
    [
      'NodeStageVolume where="size(x) > 1": ok',
      'rule:1:29: unknown name "x": expected request, volume, pod, node, call, rule or scenario',
    ],
    [
      'NodeStageVolume pod=a/b: ok',
      'rule:1:21: can never match: NodeStageVolume carries no pod (NodePublishVolume, NodeUnpublishVolume and NodeGetVolumeStats do)',
    ],
    [
      'NodeStageVolume pvc=a pvc=b: ok',
      'rule:1:23: pvc is said twice: give its alternatives with "|" between them, or write a file',
    ],
    ['NodeStageVolume pvc=: ok', 'rule:1:17: expected pvc=NAME or pvc=NAMESPACE/NAME, found "pvc="'],
    [
      'NodeStageVolume pvc=a/b/c: ok',
      'rule:1:17: expected pvc=NAME or pvc=NAMESPACE/NAME, found "pvc=a/b/c"',
    ],
    ['NodeStageVolume pvc=/a: ok', 'rule:1:17: expected pvc=NAME or pvc=NAMESPACE/NAME, found "pvc=/a"'],
    ['NodeStageVolume node=: ok', 'rule:1:17: expected a value after node=, found "node="'],
    ['NodeStageVolume times=x: ok', 'rule:1:23: expected a whole number from 1 on, found "x"'],
  ])('%s', (text, line) => {
    const { problems, text: written, scenario } = parseRule(text);
    expect(problems.map(formatProblem)).toEqual([line]);
    expect([written, scenario]).toEqual([undefined, undefined]);
  });

  it.each([
    ['pvc=/^data-\\d+$/', undefined, '/^data-\\d+$/'],
    ['pvc=!/^tmp/i', undefined, '!/^tmp/i'],
    ['pvc=db//^data/', 'db', '/^data/'],
    ['pvc=db|web/data-*', 'db|web', 'data-*'],
    ['pvc=!tmp', undefined, '!tmp'],
  ])('%s is a claim', (condition, namespace, name) => {
    const { problems, scenario } = parseRule(`NodeStageVolume ${condition}: ok`);
    expect(problems).toEqual([]);
    const { volume } = scenario?.rules[0]?.match ?? {};
    expect([volume?.pvcNamespace?.source, volume?.pvcName?.source]).toEqual([namespace, name]);
  });

  it('an attribute may be empty, when that is said', () => {
    const { scenario } = parseRule('NodeStageVolume attr.a="": ok');
    expect(scenario?.rules[0]?.match.volume?.attributes?.a?.test('')).toBe(true);
  });

  it('names the conditions there are', () => {
    expect(parseRule('NodeStageVolume pvcs=a: ok').problems.map(({ message }) => message)).toEqual([
      'unknown condition "pvcs" (did you mean "pvc"?): expected one of pvc, volume, name, class, scenario, fsType, accessMode, block, capacity, node, pod, state, where, per, nth, every, skip, times, p, after, attr.KEY, param.KEY',
    ]);
  });
});
