import * as net from 'node:net';
import * as path from 'node:path';
import { RegisteredDriver, type StageOptions } from '../../../support/registered-driver';

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

describe('two processes with one driver name', () => {
  it('the second is refused with one line while the first lives', async () => {
    const stage = await start();
    await expect(stage.startDriver()).rejects.toThrow(/another process serves|another process listens there/);
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
