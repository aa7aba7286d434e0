import type { CallFacts } from '../../../../src/scenarios/engine/facts';
import { scopeOf } from '../../../../src/scenarios/engine/scope';
import { SCOPE_NAMES } from '../../../../src/scenarios/language/expression/scope-paths';
import { linesOf, ruleProblems } from './support';

describe('the names that expressions may use', () => {
  it('are those that the engine tells', () => {
    const call: CallFacts = {
      id: 1,
      method: 'NodePublishVolume',
      nodeId: 'n',
      volumeId: 'v',
      volume: () => ({
        id: 'v',
        name: 'n',
        pvc: { namespace: 'a', name: 'b' },
        storageClass: 's',
        parameters: {},
        attributes: {},
        fsType: 'ext4',
        accessModes: [],
        block: false,
        capacityBytes: 1n,
        states: ['created'],
      }),
      pod: () => ({ namespace: 'a', name: 'b', uid: 'c', serviceAccount: 'd' }),
      plainRequest: () => ({}),
    };
    const scope = scopeOf(call, () => ({ id: 'n', fsFreePct: 5 })) as Record<string, object>;
    for (const root of ['volume', 'pod', 'node', 'call'] as const)
      expect(Object.keys(SCOPE_NAMES[root]).sort()).toEqual(Object.keys(scope[root] ?? {}).sort());
  });

  it('are only those that are known in their place', () => {
    const rule = (where: string) =>
      ruleProblems(`{match: {rpc: Probe, where: "${where}"}, then: [{delay: 1s}]}`);
    expect(rule('rule.fired > 1')).toEqual(['rule is not known here']);
    expect(rule('scenario.fired > 1')).toEqual(['scenario is not known here']);
    expect(rule('call.id > 1')).toEqual([]);
    expect(linesOf('  rules: []\n  limits: {stopIf: "scenario.fired > 3"}\n')).toEqual([]);
    expect(linesOf('  rules: []\n  limits: {stopIf: ["rule.fired > 3"]}\n')).toEqual([
      'slow.yaml:6:22: limits.stopIf.0: rule is not known here',
    ]);
  });
});
