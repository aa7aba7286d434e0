// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language has templates of its own.
import { formatProblem, parseScenarios } from '../../../../src/scenarios/language';
import { HEADER, linesOf, ruleProblems } from './support';

describe('a mistake in a scenario is one line with its place', () => {
  it('names an unknown key and the one that was meant', () => {
    const spec = `  seed: 1
  enabled: true
  rules:
  - name: first
    match: {rpc: Probe}
    sequence: "1*UNAVAILABLE -> ok"
  - name: second
    match: {rpc: NodeStageVolume}
    tims: 2
    then: [{delay: 5s}]
`;
    expect(linesOf(spec)).toEqual(['slow.yaml:13:5: rules.1: unknown key "tims" (did you mean "times"?)']);
  });

  it('names all of them at once, in the order of the file', () => {
    const spec = `  seeds: 1
  rules:
  - match: {rpc: NodeStageVolum}
    when: {tims: 2, nth: 0}
    sequence: "2*UNAVAILABL(busy) -> ok"
  - then: [{delay: 5}]
`;
    expect(linesOf(spec)).toEqual([
      'slow.yaml:5:3: unknown key "seeds" (did you mean "seed"?)',
      'slow.yaml:7:18: rules.0.match.rpc: unknown RPC "NodeStageVolum" (did you mean "NodeStageVolume"?)',
      'slow.yaml:8:12: rules.0.when: unknown key "tims" (did you mean "times"?)',
      'slow.yaml:8:26: rules.0.when.nth: expected a call number such as 3, "3.." or "2..5" (the first is 1), found 0',
      'slow.yaml:9:18: rules.0.sequence: unknown task "UNAVAILABL" (did you mean "UNAVAILABLE"?): expected ok, delay, hang or a status code',
      'slow.yaml:10:20: rules.1.then.0.delay: expected a duration such as 5s, or a map with uniform, lognormal or ramp, found 5',
    ]);
  });

  it('wants apiVersion and kind, and says which', () => {
    const lines = (text: string) => parseScenarios(text, 'a.yaml').problems.map(formatProblem);
    expect(lines('metadata: {name: a}\nspec: {}\n')).toEqual([
      'a.yaml:1:1: missing key "apiVersion": expected fake-csi/v1',
      'a.yaml:1:1: missing key "kind": expected Scenario',
    ]);
    expect(lines('apiVersion: fake-csi/v2\nkind: Scenaro\nmetadata: {name: a}\nspec: {}\n')).toEqual([
      'a.yaml:1:13: apiVersion: expected fake-csi/v1, found "fake-csi/v2"',
      'a.yaml:2:7: kind: expected Scenario, found "Scenaro"',
    ]);
    expect(lines('apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: Slow_1}\nspec: {}\n')).toEqual([
      'a.yaml:3:18: metadata.name: expected a name of small letters, digits and "-" such as slow-attach, found "Slow_1"',
    ]);
  });

  it('refuses a name that is used twice in a file', () => {
    const one = `${HEADER}  rules: []\n`;
    expect(parseScenarios(`${one}---\n${one}`, 'a.yaml').problems.map(formatProblem)).toEqual([
      'a.yaml:9:18: metadata.name: the name "slow" is used twice in this file',
    ]);
  });

  it('gives no scenario when one of a file is wrong, and all when there are only warnings', () => {
    const good = `${HEADER}  rules: []\n`;
    const bad = good.replace('slow', 'other').replace('rules', 'rulez');
    expect(parseScenarios(`${good}---\n${bad}`, 'a.yaml').scenarios).toEqual([]);
    const cut = `${HEADER}  limits: {maxHang: 5s}\n  rules: [{match: {rpc: Probe}, then: [{hang: 10s}]}]\n`;
    const { scenarios, problems } = parseScenarios(cut, 'a.yaml');
    expect(scenarios).toHaveLength(1);
    expect(problems.map(formatProblem)).toEqual([
      'a.yaml:6:47: warning: rules.0.then.0.hang: the hang is cut to limits.maxHang, 5s',
    ]);
  });

  it('is a scenario that does nothing, too', () => {
    expect(linesOf('  seed: 1\n')).toEqual(['slow.yaml:5:3: does nothing: expected rules, expect or both']);
  });

  it('is refused rather than ignored where another version will bring it', () => {
    expect(linesOf('  live: [{name: a, fault: full}]\n')).toEqual([
      'slow.yaml:5:9: live: live faults are not available in this version',
    ]);
    expect(ruleProblems('{match: {rpc: Probe}, then: [{live: a}]}')).toEqual([
      'live faults are not available in this version',
    ]);
  });

  it.each([
    ['{match: {rpc: "Nod*Volum"}, then: [{delay: 5s}]}', 'no RPC matches "Nod*Volum"'],
    [
      '{match: {rpc: Probe, service: node}, then: [{delay: 5s}]}',
      'no RPC of match.service is one of match.rpc',
    ],
    [
      '{match: {service: nod}, then: [{delay: 5s}]}',
      'unknown service "nod" (did you mean "node"?): expected identity, controller, groupController, snapshotMetadata, node or registration',
    ],
    [
      '{match: {rpc: NodeStageVolume, node: "/a(/"}, then: [{delay: 5s}]}',
      'expected a regular expression in RE2 syntax: missing closing ): `a(`',
    ],
    [
      '{match: {rpc: NodeStageVolume, node: "/a/x"}, then: [{delay: 5s}]}',
      'expected /re/ or /re/i, found the flags "x"',
    ],
    [
      '{match: {rpc: NodeStageVolume, volume: {pvc: {labels: {a: b}}}}, then: [{delay: 5s}]}',
      'labels of a claim never reach a driver: match its name, or an attribute of the volume',
    ],
    [
      '{match: {rpc: NodeStageVolume, volume: {accessMode: SINGLE_NODE_WRITR}}, then: [{delay: 5s}]}',
      'unknown access mode "SINGLE_NODE_WRITR" (did you mean "SINGLE_NODE_WRITER"?)',
    ],
    [
      '{match: {rpc: NodeStageVolume, volume: {capacity: big}}, then: [{delay: 5s}]}',
      'expected a size such as 1Gi, ">=1Gi" or "1Gi..5Gi", found "big"',
    ],
    [
      '{match: {rpc: NodeStageVolume, state: {volume: stagd}}, then: [{delay: 5s}]}',
      'expected created, attached, staged or published, found "stagd" (did you mean "staged"?)',
    ],
    [
      '{match: {rpc: NodeStageVolume, volume: {block: "yes"}}, then: [{delay: 5s}]}',
      'expected true or false, found "yes"',
    ],
    [
      '{match: {rpc: Probe}, when: {per: volum}, then: [{delay: 5s}]}',
      'expected rule, volume, pod or node, found "volum" (did you mean "volume"?)',
    ],
    [
      '{match: {rpc: Probe}, when: {times: 0}, then: [{delay: 5s}]}',
      'expected a whole number from 1 on, found 0',
    ],
    [
      '{match: {rpc: Probe}, when: {probability: 2}, then: [{delay: 5s}]}',
      'expected a share such as 0.5 or 50%, found 2',
    ],
    [
      '{match: {rpc: NodeStageVolume}, when: {after: {event: stagd}}, then: [{delay: 5s}]}',
      'unknown event "stagd" (did you mean "staged"?): expected created, attached, staged, published, unpublished, unstaged, detached, expanded or fired:RULE',
    ],
    [
      '{match: {rpc: Probe}, when: {window: {up: 5s}}, then: [{delay: 5s}]}',
      'expected either up and down, or cron and for',
    ],
    [
      '{match: {rpc: Probe}, when: {window: {cron: "0 0 31 2 *", for: 5s}}, then: [{delay: 5s}]}',
      'the time that "0 0 31 2 *" names never comes',
    ],
    [
      '{match: {rpc: Probe}, when: {window: {cron: "61 * * * *", for: 5s}}, then: [{delay: 5s}]}',
      'expected a cron pattern of five fields such as "*/5 * * * *", found "61 * * * *"',
    ],
    [
      '{match: {rpc: Probe}, then: [{delay: 5s, error: ABORTED}]}',
      'expected one thing to do in a step, found delay and error: make two steps of it',
    ],
    [
      '{match: {rpc: Probe}, then: [{}]}',
      'expected a step such as {delay: 5s}: one of at, delay, error, hang, set, respond, disk, process, registration or goto',
    ],
    ['{match: {rpc: Probe}, then: [{delay: {uniform: [5s, 1s]}}]}', 'expected the shorter duration first'],
    ['{match: {rpc: Probe}, then: [{delay: {ramp: [5s]}}]}', 'ramp and every belong together'],
    ['{match: {rpc: Probe}, then: [{error: {code: 17}}]}', 'expected a status code from 1 to 16, found 17'],
    [
      '{match: {rpc: Probe}, then: [{error: OK}]}',
      'OK is no error: use at: instead with respond, or the task ok',
    ],
    [
      '{match: {rpc: Probe}, then: [{error: {code: UNAVAILABEL}}]}',
      'unknown status code "UNAVAILABEL" (did you mean "UNAVAILABLE"?)',
    ],
    [
      '{match: {rpc: Probe}, then: [{hang: {until: dedline}}]}',
      'expected deadline, release or a duration such as 60s, found "dedline" (did you mean "deadline"?)',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{disk: mising}]}',
      'unknown disk condition "mising" (did you mean "missing"?)',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{disk: {foreignFs: ntfs}}]}',
      'expected ext4, xfs, btrfs, vfat or swap, found "ntfs"',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{disk: truncated}]}',
      'truncated needs what is left: {truncated: 50%}',
    ],
    [
      '{match: {rpc: Probe}, then: [{process: {exit: 300}}]}',
      'expected an exit code from 0 to 255, found 300',
    ],
    [
      '{match: {rpc: Probe}, then: [{at: mounted}, {delay: 5s}]}',
      'Probe has no point "mounted": expected before, instead or after',
    ],
    [
      '{match: {rpc: Probe}, then: [{error: {code: ABORTED, message: "a ${volum.id}"}}]}',
      'unknown name "volum" (did you mean "volume"?): expected request, volume, pod, node, call, rule or scenario',
    ],
    [
      '{match: {rpc: Probe}, then: [{error: {code: ABORTED, message: "a ${}"}}]}',
      '"${}" names nothing: expected an expression such as ${volume.id}',
    ],
    ['{match: {rpc: Probe}, then: [{delay: 5s}], sequence: ok}', 'then and sequence exclude each other'],
    ['{match: {rpc: Probe}}', 'does nothing: expected then or sequence'],
    ['{match: {rpc: Probe}, times: 2, then: [{delay: 5s}]}', 'unknown key "times": it belongs under when'],
    ['{match: {rpc: Probe}, then: []}', 'does nothing: expected a step such as {delay: 5s}'],
    ['{match: {rpc: Probe}, then: [{at: after}]}', 'does nothing: expected a step such as {delay: 5s}'],
  ])('%s', (rule, message) => {
    expect(ruleProblems(rule)).toEqual([message]);
  });

  it('points into a text, not only at it', () => {
    const spec = (node: string) => `  rules: [{match: {rpc: Probe, where: ${node}}, then: [{delay: 1s}]}]\n`;
    const [plain] = linesOf(spec('"true && siz(1)"'));
    expect(plain).toBe('slow.yaml:5:48: rules.0.match.where: unknown function "siz" (did you mean "size"?)');
  });
});
