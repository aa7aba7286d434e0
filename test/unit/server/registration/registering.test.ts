import * as net from 'node:net';
import * as path from 'node:path';
import { RegisteredDriver } from '../../../support/registered-driver';
import { DRIVER, SOCKET, state, useStages } from './stages';

const start = useStages();

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
