import * as path from 'node:path';
import { DRIVER, SOCKET, state, useStages } from './stages';

const start = useStages();

describe('a refusal', () => {
  const spec =
    "  rules: [{match: {rpc: NodeGetInfo}, when: {times: 3}, then: [{respond: {merge: {node_id: ''}}}]}]";

  it('is journalled with the words of the kubelet and what to do about them', async () => {
    const stage = await start({ spec });
    await stage.pass(1_500);
    expect(state(stage)).toBe('refused');
    expect(stage.events('registrationRefused')[0]).toEqual({
      socket: path.join(stage.registry, SOCKET),
      error: expect.stringContaining('driverNodeID is empty'),
      advice: expect.stringContaining('--node-id'),
      retryMs: 1_000,
    });
    expect(stage.driver.driver.registration?.status().why).toContain('driverNodeID is empty');
  });

  it.each(['1.36', '1.32'] as const)('ends in a registration all the same: kubelet %s', async (version) => {
    const stage = await start({ spec, kubelet: { version } });
    await stage.pass(30_000);
    expect(stage.kubelet.has(DRIVER)).toBe(true);
    expect(state(stage)).toBe('registered');
    expect(stage.kubelet.log.filter(({ what }) => what === 'refused')).toHaveLength(3);
  });

  it('is not asked about again by a kubelet of 1.32 until the socket is made anew, with growing pauses', async () => {
    const endless = spec.replace('{times: 3}', '{times: 100}');
    const stage = await start({ spec: endless, kubelet: { version: '1.32' } });
    await stage.pass(400_000);
    const pauses = stage.events('registrationRefused').map(({ retryMs }) => retryMs);
    expect(pauses.slice(0, 9)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000,
    ]);
    expect(stage.events('registrationWithdrawn')[0]).toMatchObject({ why: 'refused' });
  });
});

describe('what the registration may get wrong', () => {
  const rule = (rest: string) => `  rules: [{${rest}}]`;
  const merge = (patch: string) => rule(`match: {rpc: GetInfo}, then: [{respond: {merge: ${patch}}}]`);
  const nodeInfo = (patch: string) =>
    rule(`match: {rpc: NodeGetInfo}, when: {times: 1}, then: [{respond: {merge: ${patch}}}]`);

  it.each([
    [
      'late GetInfo (R1)',
      rule('match: {rpc: GetInfo}, then: [{delay: 1200ms}]'),
      'failed to get plugin info using RPC GetInfo',
    ],
    [
      'GetInfo with an error',
      rule('match: {rpc: GetInfo}, then: [{error: UNAVAILABLE}]'),
      'GetInfo: [scenario test',
    ],
    ['no versions (R3)', merge('{supported_versions: []}'), 'list of supported versions is empty'],
    ['a version to come (R3)', merge('{supported_versions: ["2.0.0"]}'), 'none of the versions specified'],
    ['another type (R4)', merge('{type: DRAPlugin}'), 'no handler registered for plugin type: DRAPlugin'],
    ['no node id (R5)', nodeInfo("{node_id: ''}"), 'driverNodeID is empty'],
    [
      'NodeGetInfo with an error (R5)',
      rule('match: {rpc: NodeGetInfo}, then: [{error: UNAVAILABLE}]'),
      'Unavailable|UNAVAILABLE',
    ],
    ['another endpoint (R11)', merge('{endpoint: /nowhere/csi.sock}'), 'UNAVAILABLE'],
  ])('%s', async (_, spec, why) => {
    const stage = await start({ spec });
    await stage.pass(2_900);
    expect(stage.kubelet.why).toMatch(new RegExp(why.replace(/[[\]]/g, '\\$&')));
    expect(stage.driver.driver.engine.status()[0]?.fired).toBeGreaterThan(0);
  });

  it('NodeGetInfo that hangs for two minutes (R5)', async () => {
    const stage = await start({ spec: rule('match: {rpc: NodeGetInfo}, then: [{hang: deadline}]') });
    await stage.pass(121_500);
    expect(stage.kubelet.why).toContain('NodeGetInfo: context deadline exceeded');
    expect(stage.driver.driver.registration?.status().state).toBe('refused');
  });

  it('another value of a label that the Node has, until it is taken off (R5)', async () => {
    const key = 'topology.fake.csi.test/zone';
    const stage = await start({ kubelet: { labels: { [key]: 'b' } } });
    await stage.pass(2_000);
    expect(stage.kubelet.why).toContain('detected topology value collision');
    expect(stage.events('registrationRefused')[0]?.advice).toContain('kubectl label node');
    stage.kubelet.labels.delete(key);
    await stage.pass(20_000);
    expect(stage.kubelet.csiNode.get(DRIVER)?.topologyKeys).toEqual([key]);
  });

  it('a limit below nothing counts as none (R5)', async () => {
    const stage = await start({ spec: nodeInfo('{max_volumes_per_node: -3}') });
    await stage.pass(1_000);
    expect(stage.kubelet.csiNode.get(DRIVER)).not.toHaveProperty('count');
    expect(stage.kubelet.has(DRIVER)).toBe(true);
  });

  it.each([
    ['1.36', 4],
    ['1.32', 1],
  ] as const)('a verdict that is not taken (R6): kubelet %s asks %d times', async (version, times) => {
    const spec = rule('match: {rpc: NotifyRegistrationStatus}, when: {times: 3}, then: [{error: INTERNAL}]');
    const stage = await start({ spec, kubelet: { version } });
    await stage.pass(15_000);
    expect(stage.kubelet.askedAt()).toHaveLength(times);
    expect(stage.kubelet.has(DRIVER)).toBe(true);
  });

  it('another name than that of the volumes (R10)', async () => {
    const stage = await start({ spec: merge('{name: other.csi.test}') });
    await stage.pass(1_000);
    expect([...stage.kubelet.csiNode.keys()]).toEqual(['other.csi.test']);
  });

  it.each(['500ms', '5s'])(
    'a socket that is gone for %s is one that went and came back (R9)',
    async (length) => {
      const spec = rule(
        `match: {service: registration}, when: {after: 10s}, then: [{registration: {unregister: true, for: ${length}}}]`,
      );
      const stage = await start({ spec });
      await stage.pass(20_000);
      expect(stage.kubelet.told()).toMatch(
        /^created, asked, registered, removed, (created, )?unregistered, (created, )?asked, registered$/,
      );
    },
  );

  it('a limit that changes over time (R12)', async () => {
    const spec = rule(
      'match: {rpc: NodeGetInfo}, when: {after: 30s}, then: [{respond: {merge: {max_volumes_per_node: 3}}}]',
    );
    const stage = await start({ spec, kubelet: { nodeInfoPeriodMs: 10_000 } });
    await stage.pass(25_000);
    expect(stage.kubelet.csiNode.get(DRIVER)).not.toHaveProperty('count');
    await stage.pass(10_000);
    expect(stage.kubelet.csiNode.get(DRIVER)?.count).toBe(3);
  });
});
