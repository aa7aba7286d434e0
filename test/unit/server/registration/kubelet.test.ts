import * as net from 'node:net';
import * as path from 'node:path';
import { silentLog } from '../../../support/driver';
import { RegistrationClient } from '../../../support/plugin-watcher';
import { RegisteredDriver, type StageOptions } from '../../../support/registered-driver';
import { until } from '../../../support/until';

const DRIVER = 'fake.csi.test';
const SOCKET = 'fake.csi.test-reg.sock';

let stages: RegisteredDriver[] = [];
afterEach(async () => {
  for (const stage of stages) await stage.close();
  stages = [];
});

async function start(options: StageOptions = {}): Promise<RegisteredDriver> {
  const stage = await RegisteredDriver.start(options);
  stages.push(stage);
  return stage;
}

const state = (stage: RegisteredDriver) => stage.driver.driver.registration?.status().state;

describe('a driver that registers itself', () => {
  it('is found, asked, and told; its node is in CSINode', async () => {
    const stage = await start({ driver: { maxVolumesPerNode: 7 } });
    expect(state(stage)).toBe('waiting');
    await stage.pass(1_000);
    expect(stage.kubelet.told()).toBe('created, asked, registered');
    expect(stage.kubelet.csiNode.get(DRIVER)).toEqual({
      nodeId: 'node-1',
      topologyKeys: ['topology.fake.csi.test/zone'],
      count: 7,
    });
    expect(state(stage)).toBe('registered');
    expect(stage.events('registered')).toEqual([{ socket: path.join(stage.registry, SOCKET) }]);
  });

  it('is journalled with what it was asked and what it said', async () => {
    const stage = await start();
    await stage.pass(1_000);
    const calls = stage.driver.driver.journal
      .entries()
      .flatMap((entry) => (entry.type === 'answered' ? [[entry.method, entry.code, entry.response]] : []));
    expect(calls).toEqual([
      [
        'GetInfo',
        'OK',
        {
          type: 'CSIPlugin',
          name: DRIVER,
          endpoint: stage.driver.driver.socketPath,
          supported_versions: ['1.0.0'],
        },
      ],
      ['NodeGetInfo', 'OK', expect.anything()],
      ['NotifyRegistrationStatus', 'OK', {}],
    ]);
  });

  it('goes from the kubelet before it goes itself, and leaves nothing in its folder', async () => {
    const stage = await start();
    await stage.pass(1_000);
    await stage.driver.stop();
    expect(await stage.files()).toEqual([]);
    await stage.pass(2_000);
    expect(stage.kubelet.told()).toBe('created, asked, registered, removed, unregistered');
    expect(stage.kubelet.csiNode.size).toBe(0);
    const order = stage.driver.driver.journal
      .entries()
      .flatMap((entry) => (entry.type === 'event' ? [entry.event] : []));
    expect(order.slice(-2)).toEqual(['registrationWithdrawn', 'stopped']);
  });

  it('leaves its socket when it is killed, as the kubelet then believes; the next one replaces it', async () => {
    const stage = await start();
    await stage.pass(1_000);
    await stage.driver.driver.kill();
    expect(await stage.files()).toEqual([SOCKET]);
    expect(stage.kubelet.has(DRIVER)).toBe(true);
    await stage.startDriver();
    expect(await stage.files()).toEqual([SOCKET]);
    await stage.pass(2_000);
    expect(stage.kubelet.told()).toMatch(/unregistered, asked, registered$/);
    expect(stage.kubelet.told()).not.toContain('failed');
  });
});

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

it('a flap while the node warms up: registered in the end, and twice withdrawn', async () => {
  const spec = `  rules:
  - {name: flap, match: {service: registration}, when: {window: {up: 40s, down: 15s}}, then: [{registration: {unregister: true, for: 15s}}]}
  - {name: noinfo, match: {rpc: NodeGetInfo}, sequence: "50%2*UNAVAILABLE(warming up) -> ok"}
  expect: [{eventually: {registration: registered}, within: 90s}, {fired: {rule: flap, times: ">=2"}}]`;
  const stage = await start({ spec });
  await stage.pass(39_000);
  expect(state(stage)).toBe('registered');
  await stage.pass(90_000);
  expect(stage.events('registrationWithdrawn').filter(({ why }) => why === 'test/flap')).toHaveLength(2);
  expect(stage.events('fired').map(({ rule }) => rule)).toEqual(['test/flap', 'test/flap']);
  expect(stage.kubelet.has(DRIVER)).toBe(true);
  expect(state(stage)).toBe('registered');
});

it('an old kubelet, whose :authority is a path, is told of in the log and in the status', async () => {
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => warned.push(message) };
  const stage = await start({ driver: { log } });
  const file = path.join(stage.registry, SOCKET);
  const old = new RegistrationClient(file, file);
  await expect(old.call('GetInfo', {}, new AbortController().signal)).rejects.toThrow(/RST_STREAM|PROTOCOL/);
  old.close();
  await until('somebody is warned', () => warned.length > 0);
  expect(warned).toEqual([expect.stringContaining('let node-driver-registrar register this driver')]);
  expect(stage.driver.driver.registration?.status()).toMatchObject({
    state: 'waiting',
    why: expect.stringContaining('one before 1.29'),
  });
  await stage.pass(1_000);
  expect(stage.driver.driver.registration?.status()).not.toHaveProperty('why');
});

describe('rules that act by time', () => {
  const window = (rest: string) =>
    `  rules: [{name: flap, match: {service: registration}, when: {window: {up: 10s, down: 5s}}, then: [${rest}]}]`;

  it('end with their window when they name no time', async () => {
    const stage = await start({ spec: window('{registration: {unregister: true}}') });
    await stage.pass(12_000);
    expect(await stage.files()).toEqual([]);
    await stage.pass(4_000);
    expect(await stage.files()).toEqual([SOCKET]);
    expect(stage.events('fired')).toEqual([
      { rule: 'test/flap', effects: ['registration socket removed by test/flap'] },
    ]);
  });

  it('let go when their scenario is reset, or its driver stops', async () => {
    const spec = window('{registration: {silent: true, for: 1h}}').replace('up: 10s', 'up: 30s');
    const stage = await start({ spec });
    await stage.pass(32_000);
    expect(stage.driver.driver.registration?.status()).toMatchObject({
      state: 'waiting',
      why: 'the socket was removed: test/flap',
    });
    await stage.driver.driver.reset();
    // The kubelet had begun to dial.
    await stage.pass(9_000);
    expect(stage.kubelet.has(DRIVER)).toBe(false);
    await stage.pass(6_000);
    expect(stage.kubelet.has(DRIVER)).toBe(true);
    await stage.driver.stop();
    expect(await stage.files()).toEqual([]);
  });

  it('are no business of a call that comes meanwhile', async () => {
    const stage = await start({ spec: window('{registration: {second: true}}') });
    await stage.pass(14_000);
    const answered = stage.driver.driver.journal
      .entries()
      .flatMap((entry) => (entry.type === 'answered' && entry.method === 'GetInfo' ? [entry.fired] : []));
    expect(answered.length).toBeGreaterThan(1);
    expect(answered.flat()).toEqual([]);
    expect(stage.driver.driver.engine.status()[0]?.rules).toEqual([{ name: 'flap', fired: 1 }]);
  });

  it('act on calls where they name no time', async () => {
    const spec =
      '  rules: [{match: {rpc: GetInfo}, when: {times: 1}, then: [{registration: {unregister: true, for: 5s}}]}]';
    const stage = await start({ spec });
    await stage.pass(15_000);
    expect(stage.kubelet.told()).toMatch(/^created, asked, .*removed, .*unregistered, .*asked, registered$/);
  });

  it('do nothing where the driver does not register itself', async () => {
    const stage = await start({
      spec: window('{registration: {unregister: true}}'),
      driver: { kubelet: undefined },
    });
    await stage.pass(60_000);
    expect(stage.driver.driver.engine.status()[0]?.fired).toBe(0);
    expect(await stage.files()).toEqual([]);
  });
});

describe('two processes with one driver name', () => {
  it('the second is refused with one line while the first lives', async () => {
    const stage = await start();
    const other = RegisteredDriver.start({ root: stage.root });
    await expect(other).rejects.toThrow(
      `--register ${path.join(stage.registry, SOCKET)}: another process listens there; stop it or choose another --driver-name`,
    );
    await stage.pass(1_000);
    expect(stage.kubelet.has(DRIVER)).toBe(true);
  });

  it('a dead socket is removed before the driver reads its data', async () => {
    const stage = await start();
    await stage.driver.driver.kill();
    const dead = path.join(stage.registry, SOCKET);
    await expect(new Promise((_, reject) => net.connect(dead).once('error', reject))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    await stage.startDriver();
    const connected = new Promise((resolve) => {
      const socket = net.connect(dead, () => {
        socket.destroy();
        resolve('connected');
      });
    });
    expect(await connected).toBe('connected');
  });
});
