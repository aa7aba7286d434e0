// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language has templates of its own.
import { linesOf, ruleProblems } from './support';

describe('a rule that cannot do what it says is refused', () => {
  it.each([
    [
      '{match: {rpc: NodeStageVolume, pod: {name: a}}, then: [{delay: 5s}]}',
      'can never match: NodeStageVolume carries no pod (NodePublishVolume, NodeUnpublishVolume and NodeGetVolumeStats do)',
    ],
    [
      '{match: {rpc: Probe, volume: {id: a}}, then: [{delay: 5s}]}',
      'can never match: Probe is about no volume',
    ],
    [
      '{match: {rpc: NodeGetInfo, state: {volume: staged}}, then: [{delay: 5s}]}',
      'can never match: NodeGetInfo is about no volume',
    ],
    [
      '{match: {rpc: Probe}, when: {per: volume}, then: [{delay: 5s}]}',
      'Probe is about no volume to count by: count per rule',
    ],
    [
      '{match: {rpc: NodeStageVolume}, when: {per: pod}, then: [{delay: 5s}]}',
      'NodeStageVolume carries no pod to count by (NodePublishVolume, NodeUnpublishVolume and NodeGetVolumeStats do)',
    ],
    [
      '{match: {rpc: Probe}, when: {probability: 0}, then: [{delay: 5s}]}',
      'never comes true: the rule can never fire',
    ],
    [
      '{match: {rpc: Probe}, when: {nth: [1, 3], every: 2}, then: [{delay: 5s}]}',
      'the rule can never fire: no call of nth 1, 3 is one of every 2',
    ],
    [
      '{match: {rpc: Probe}, when: {window: {up: 5s, down: 0s}}, then: [{delay: 5s}]}',
      'the rule can never fire: it acts while the window is down',
    ],
    [
      '{name: a, match: {rpc: Probe}, when: {after: {event: "fired:a"}}, then: [{delay: 5s}]}',
      'the rule can never fire: it waits for itself',
    ],
    [
      '{match: {rpc: Probe}, when: {after: {event: "fired:b"}}, then: [{delay: 5s}]}',
      'no rule is called "b"',
    ],
    [
      '{match: {rpc: CreateVolume}, when: {after: {event: created}}, then: [{delay: 5s}]}',
      'the rule can never fire: the volume of a CreateVolume has not been created before',
    ],
    [
      '{match: {rpc: Probe}, when: {after: {event: staged}}, then: [{delay: 5s}]}',
      'the rule can never fire: Probe is about no volume that could be staged',
    ],
    [
      '{match: {rpc: Probe}, sequence: "ok -> ABORTED"}',
      'stage 2 can never be reached: the one before it has no end',
    ],
    ['{match: {rpc: Probe}, sequence: "0*ABORTED -> ok"}', 'stage 1 can never act'],
    ['{match: {rpc: Probe}, sequence: "0%ABORTED -> ok"}', 'stage 1 can never act'],
    [
      '{match: {rpc: Probe}, when: {times: 2}, sequence: "2*ABORTED -> 1*UNAVAILABLE"}',
      'stage 2 can never be reached: the rule fires at most 2 times',
    ],
    [
      '{match: {rpc: Probe}, when: {nth: 1}, sequence: "1*ABORTED -> 1*UNAVAILABLE"}',
      'stage 2 can never be reached: the rule fires once',
    ],
    [
      '{match: {rpc: Probe}, then: [{error: ABORTED}, {delay: 5s}]}',
      'can never be reached: the error before it ends the call',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{at: locked}, {process: {exit: 1}}, {at: after}, {delay: 5s}]}',
      'can never be reached: the exit before it ends the call',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{at: instead}, {respond: {merge: {}}}, {at: after}, {delay: 5s}]}',
      'can never be reached: the work is not done, so the call does not come to "after"',
    ],
    [
      '{match: {rpc: Probe}, then: [{at: after}, {set: {request.x: 1}}]}',
      'the request is used before "after": set belongs to at: before',
      'unknown field "x" of ProbeRequest',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{at: before}, {respond: {merge: {}}}]}',
      'there is no answer yet at "before": respond belongs to at: after or at: instead',
    ],
    [
      '{match: {rpc: NodePublishVolume}, then: [{disk: missing}]}',
      'a disk meets its condition in NodeStageVolume, and the rule matches NodePublishVolume as well',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{at: mounted}, {disk: missing}]}',
      'the disk is used before "mounted": disk belongs to at: before',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{disk: blank}]}',
      "blank destroys the volume's data: the rule needs destructive: true",
    ],
    [
      '{match: {rpc: ControllerPublishVolume}, then: [{at: mounted}, {delay: 1s}]}',
      'ControllerPublishVolume has no point "mounted": expected before, instead, after, locked or beforeAttach',
    ],
    [
      '{match: {rpc: Probe}, then: [{goto: {attach: done}}]}',
      'no machine is called "attach": declare it under machines',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{set: {request.volume_capability.mount.fs_typ: xfs}}]}',
      'unknown field "fs_typ" of NodeStageVolumeRequest (did you mean "fs_type"?)',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{set: {request.secrets: {}}}]}',
      'secrets is secret: a scenario cannot touch it',
    ],
    [
      '{match: {rpc: NodePublishVolume}, then: [{set: {request.readonly: 1}}]}',
      'expected true or false, found 1',
    ],
    [
      '{match: {rpc: NodePublishVolume}, then: [{set: {readonly: true}}]}',
      'expected a path such as request.readonly, found "readonly"',
    ],
    [
      '{match: {rpc: CreateVolume}, then: [{respond: {merge: {volume: {capacity_byte: 1}}}}]}',
      'unknown field "capacity_byte" of Volume (did you mean "capacity_bytes"?)',
    ],
    [
      '{match: {rpc: CreateVolume}, then: [{respond: {merge: {volume: {capacity_bytes: 1.5}}}}]}',
      'expected a whole number, found 1.5',
    ],
    [
      '{match: {rpc: CreateVolume}, then: [{respond: {merge: {volume: {volume_context: {a: 1}}}}}]}',
      'expected a text (numbers and booleans in quotes), found 1',
    ],
    [
      '{match: {rpc: CreateSnapshot}, then: [{respond: {merge: {snapshot: {creation_time: soon}}}}]}',
      'expected a time such as 2026-01-31T12:00:00Z, found "soon"',
    ],
    [
      '{match: {rpc: CreateSnapshot}, then: [{respond: {merge: {snapshot: {creation_time: "1"}}}}]}',
      'expected a time such as 2026-01-31T12:00:00Z, found "1"',
    ],
    [
      '{match: {rpc: CreateSnapshot}, then: [{respond: {merge: {snapshot: {creation_time: "+275760-09-13T00:00:00Z"}}}}]}',
      'expected a time such as 2026-01-31T12:00:00Z, found "+275760-09-13T00:00:00Z"',
    ],
    [
      '{match: {rpc: NodeGetVolumeStats}, then: [{respond: {merge: {usage: [{unit: 99999999999}]}}}]}',
      'expected UNKNOWN, BYTES or INODES, found 99999999999',
    ],
    [
      '{match: {rpc: NodeStageVolume}, then: [{error: {code: ABORTED, message: "${request.volume_i}"}}]}',
      'unknown field "volume_i" of NodeStageVolumeRequest (did you mean "volume_id"?)',
    ],
    [
      '{match: {rpc: NodeStageVolume, where: "size(request.secrets) > 0"}, then: [{delay: 5s}]}',
      'secrets cannot be read by a scenario',
    ],
    [
      '{match: {rpc: NodeStageVolume, where: "request.volume_capability.mount.mount_flags[0] == \'ro\'"}, then: [{delay: 5s}]}',
      'mount_flags may hold passwords: a scenario can only count them, with size()',
    ],
  ])('%s', (rule, ...messages) => {
    expect(ruleProblems(rule)).toEqual(messages);
  });

  it.each([
    '{match: {rpc: NodeStageVolume, where: "size(request.volume_capability.mount.mount_flags) > 0"}, then: [{delay: 5s}]}',
    '{match: {rpc: NodeStageVolume}, then: [{at: instead}, {respond: {merge: {}}}]}',
    '{match: {rpc: NodeStageVolume}, then: [{at: instead}]}',
    '{match: {rpc: NodeStageVolume}, then: [{at: after}, {delay: 1s}, {error: ABORTED}]}',
    '{match: {rpc: NodeStageVolume}, then: [{at: after}, {error: ABORTED}, {at: before}, {delay: 1s}]}',
    '{match: {rpc: [NodePublishVolume, NodeStageVolume], pod: {name: a}}, then: [{delay: 1s}]}',
    '{match: {rpc: Probe}, when: {nth: 1, skip: 1}, then: [{delay: 1s}]}',
    '{match: {rpc: Probe}, when: {nth: "3..", every: 7}, then: [{delay: 1s}]}',
    '{match: {rpc: Probe}, sequence: "50%ABORTED -> ok"}',
    '{match: {rpc: Probe}, when: {times: 3}, sequence: "50%2*ABORTED -> 3*UNAVAILABLE"}',
    '{match: {rpc: [ListVolumes, CreateVolume]}, when: {after: 5s}, then: [{delay: 1s}]}',
  ])('%s can', (rule) => {
    expect(ruleProblems(rule)).toEqual([]);
  });

  it('refuses a rule whose calls an earlier one takes, and only then', () => {
    const shadowed = (first: string, second: string) =>
      linesOf(`  rules:\n  - {name: wide, ${first}}\n  - {name: narrow, ${second}}\n`);
    const narrow = 'match: {rpc: NodeStageVolume, node: a}, then: [{error: ABORTED}]';
    const message =
      'rules.1: the rule can never fire: "wide" comes before it and takes all of its calls (give it a higher priority, or "wide" continue: true)';
    expect(shadowed('match: {rpc: "Node*"}, then: [{delay: 1s}]', narrow)).toEqual([
      `slow.yaml:7:5: ${message}`,
    ]);
    expect(shadowed('match: {rpc: "Node*"}, sequence: "2*ABORTED -> ok"', narrow)).toEqual([
      `slow.yaml:7:5: ${message}`,
    ]);
    expect(shadowed('match: {rpc: "Node*", node: a}, then: [{delay: 1s}]', narrow)).toEqual([
      `slow.yaml:7:5: ${message}`,
    ]);
    expect(shadowed('match: {rpc: "Node*", node: b}, then: [{delay: 1s}]', narrow)).toEqual([]);
    expect(shadowed('match: {rpc: "Node*"}, continue: true, then: [{delay: 1s}]', narrow)).toEqual([]);
    expect(shadowed('match: {rpc: "Node*"}, when: {times: 1}, then: [{delay: 1s}]', narrow)).toEqual([]);
    expect(shadowed('match: {rpc: "Node*"}, sequence: "2*ABORTED"', narrow)).toEqual([]);
    expect(shadowed('match: {rpc: Probe}, then: [{delay: 1s}]', narrow)).toEqual([]);
    expect(shadowed('match: {rpc: "Node*"}, then: [{delay: 1s}]', `priority: 1, ${narrow}`)).toEqual([]);
  });

  it('compares conditions by all that is written in them', () => {
    const two = (first: string, second: string) =>
      linesOf(
        `  rules:\n  - {name: a, match: {rpc: NodeStageVolume, ${first}}, then: [{delay: 1s}]}\n  - {name: b, match: {rpc: NodeStageVolume, ${second}}, then: [{delay: 1s}]}\n`,
      ).length;
    expect(two('volume: {parameters: {node: x}}', 'volume: {parameters: {node: y}}')).toBe(0);
    expect(two('volume: {parameters: {node: x}}', 'volume: {parameters: {node: x}}')).toBe(1);
    expect(two('where: "size(volume.id) > 1"', 'where: "size(volume.id) > 2"')).toBe(0);
    expect(
      two('where: "size(volume.id) > 9007199254740993"', 'where: "size(volume.id) > 9007199254740993"'),
    ).toBe(1);
  });

  it('looks at a thousand rules in little time', () => {
    const rule = (i: number) =>
      `  - {name: r${i}, match: {rpc: NodeStageVolume, node: w${i}}, sequence: "2*ABORTED -> ok"}`;
    const from = Date.now();
    expect(linesOf(`  rules:\n${Array.from({ length: 1000 }, (_, i) => rule(i)).join('\n')}\n`)).toEqual([]);
    expect(Date.now() - from).toBeLessThan(5_000);
  });

  it('looks at a whole scenario: names, machines, limits', () => {
    expect(
      linesOf(`  expires: 10s
  limits: {allowDestructive: false}
  machines: {attach: {initial: pending}}
  rules:
  - {name: a, match: {rpc: Probe}, when: {times: 1, after: 20s}, then: [{delay: 1s}]}
  - {name: a, match: {rpc: Probe}, when: {machine: {attach: done}}, then: [{delay: 1s}]}
  - {name: c, match: {rpc: GetPluginInfo}, when: {machine: {atach: done}}, then: [{delay: 1s}]}
  - {name: d, match: {rpc: NodeStageVolume}, destructive: true, then: [{disk: blank}]}
  expect:
  - {fired: {rule: e}}
  - {fired: {rule: slow/c}}
  - {fired: {rule: other/e}}
`),
    ).toEqual([
      'slow.yaml:9:60: rules.0.when.after: the rule can never fire: the scenario expires 10s after it was armed',
      'slow.yaml:10:12: rules.1.name: the name "a" is used twice',
      'slow.yaml:10:61: rules.1.when.machine.attach: the rule can never fire: nothing sets attach to "done"',
      'slow.yaml:11:61: rules.2.when.machine.atach: no machine is called "atach" (did you mean "attach"?): declare it under machines',
      'slow.yaml:12:46: rules.3.destructive: limits.allowDestructive is false',
      'slow.yaml:14:20: expect.0.fired.rule: no rule is called "e"',
    ]);
  });

  it('takes a state that a goto sets', () => {
    expect(
      linesOf(`  machines: {attach: {initial: pending}}
  rules:
  - {name: a, match: {rpc: Probe}, when: {times: 1}, then: [{goto: {attach: done}}]}
  - {name: b, match: {rpc: Probe}, when: {machine: {attach: [done, other]}}, then: [{delay: 1s}]}
`),
    ).toEqual([]);
  });
});

describe('rules that wait for each other', () => {
  const rule = (name: string, after: string) =>
    `  - {name: ${name}, match: {rpc: Probe}, when: {after: ${after}}, then: [{delay: 1s}]}\n`;

  it('can never fire, however many there are', () => {
    const circle = linesOf(
      `  rules:\n${rule('a', '"fired:b"')}${rule('b', '{event: "fired:c"}')}${rule('c', '"fired:a"')}`,
    );
    expect(circle.map((line) => line.replace(/^slow.yaml:\d+:\d+: /, ''))).toEqual([
      'rules.0.when.after.event: the rule can never fire: it waits for "b", which waits for it',
      'rules.1.when.after.event: the rule can never fire: it waits for "c", which waits for it',
      'rules.2.when.after.event: the rule can never fire: it waits for "a", which waits for it',
    ]);
  });

  it('may stand in a row', () => {
    expect(
      linesOf(`  rules:\n${rule('a', '1s')}${rule('b', '"fired:a"')}${rule('c', '{event: "fired:b"}')}`),
    ).toEqual([]);
  });
});
