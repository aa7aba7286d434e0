// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { connectControl, findControlSocket } from '../../../src/control/client';
import { createMemoryHost } from '../../../src/host/memory';
import { createVolume } from '../../support/lifecycle';
import { until } from '../../support/until';
import { type Controlled, listenAndLeave, probe, SCENARIO, startControlled } from './support';

/** A controller and a node on one data folder, as in a cluster. */
let controller: Controlled;
let node: Controlled;
beforeEach(async () => {
  const host = createMemoryHost();
  controller = await startControlled({ host, profile: 'controller', nodeId: 'c' });
  const { dataDir } = controller.test;
  node = await startControlled({ host, profile: 'node', nodeId: 'n', dataDir });
});
afterEach(async () => {
  await node.close();
  await controller.close();
});

const folder = () => path.join(controller.test.dataDir, 'control');

describe('two processes on one data folder', () => {
  it('have a socket each, the second by its own name', () => {
    expect(controller.server.socket).toBe(path.join(folder(), 'control.sock'));
    expect(node.server.socket).toBe(path.join(folder(), `control-${node.test.driver.processName}.sock`));
  });

  it('are armed and disarmed by either, in both, when the answer is there', async () => {
    const both = [controller.test.driver.processName, node.test.driver.processName];
    const { processes } = await node.control.putScenario(SCENARIO);
    expect([...processes].sort()).toEqual(both);
    expect([await probe(controller), await probe(node)]).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
    await controller.control.disarm('slow');
    expect([await probe(controller), await probe(node)]).toEqual(['OK', 'OK']);
    const { name } = await controller.control.rule('Probe: ABORTED');
    expect([await probe(controller), await probe(node)]).toEqual(['ABORTED', 'ABORTED']);
    await node.control.removeRule(name);
    expect([await probe(controller), await probe(node)]).toEqual(['OK', 'OK']);
  });

  it('tell of each other, of all volumes and of one timeline', async () => {
    expect((await node.control.status()).processes).toHaveLength(1);
    const { processes, unreachable } = await node.control.status({ all: true });
    expect(processes.map(({ services }) => services)).toEqual(['node', 'controller']);
    expect(unreachable).toEqual([]);
    const id = await createVolume(controller.test);
    expect(await node.control.volume(id)).toMatchObject({ id, state: 'created' });
    await probe(node);
    const calls = await controller.control.calls();
    expect(new Set(calls.map(({ process }) => process)).size).toBe(2);
  });

  it('hold calls that either sees and lets go of', async () => {
    await controller.control.rule('Probe: hang(release)', { name: 'stuck' });
    const hung = [probe(controller), probe(node)];
    await until('both calls hang', async () => (await node.control.held()).calls.length === 2);
    const { calls } = await controller.control.held();
    expect(new Set(calls.map(({ process }) => process)).size).toBe(2);
    expect(calls[0]).toMatchObject({ method: 'Probe', scenario: 'stuck', rule: 'rule', kind: 'hang' });
    expect((await controller.control.held({ all: false })).calls).toHaveLength(1);
    expect((await node.control.release('stuck')).released).toBe(2);
    expect(await Promise.all(hung)).toEqual(['OK', 'OK']);
  });

  it('have their machines set together, also one that only the other has', async () => {
    await node.control.putScenario(SCENARIO);
    expect((await node.control.setMachine('slow', 'attach', 'lost')).processes).toHaveLength(2);
    for (const { control } of [node, controller])
      expect((await control.scenario('slow')).scenario.machines).toEqual({ attach: 'lost' });
    const file = path.join(node.test.dir, 'own.yaml');
    writeFileSync(file, SCENARIO.replace('name: slow', 'name: own'));
    const third = await startControlled({
      dataDir: node.test.dataDir,
      profile: 'node',
      nodeId: 'm',
      scenarios: [file],
    });
    try {
      const { processes } = await node.control.setMachine('own', 'attach', 'lost');
      expect(processes).toEqual([third.test.driver.processName]);
      await expect(node.control.setMachine('own', 'attach', 'gone')).rejects.toMatchObject({ status: 404 });
    } finally {
      await third.close();
    }
  });

  it('are reset together: what hangs ends, a closed CSI socket is there again, and the mark comes after', async () => {
    const closes = { match: { rpc: 'GetPluginInfo' }, then: [{ process: { closeSocket: true } }] };
    await controller.control.rule(closes, { name: 'closes' });
    await node.test.csi.GetPluginInfo().catch(() => undefined);
    await until('the socket is gone', async () => !existsSync(node.test.driver.socketPath));
    await controller.control.removeRule('closes');
    await controller.control.reset({ mark: 'fresh' });
    expect(existsSync(node.test.driver.socketPath)).toBe(true);
    expect(await probe(node)).toBe('OK');
    expect(await node.control.calls({ since: 'mark:fresh' })).toMatchObject([{ method: 'Probe' }]);
  });

  it('one that does not answer is named within a second, one that is gone is not', async () => {
    const silent = path.join(folder(), 'control-silent.sock');
    const listener = net.createServer(() => undefined).listen(silent);
    await once(listener, 'listening');
    await listenAndLeave(path.join(folder(), 'control-dead.sock'));
    writeFileSync(path.join(folder(), 'notes.txt'), '');
    try {
      const { processes, unreachable } = await node.control.status({ all: true });
      expect(processes).toHaveLength(2);
      expect(unreachable).toEqual(['control-silent.sock']);
      expect(await controller.control.reset()).toMatchObject({ unreachable: ['control-silent.sock'] });
    } finally {
      listener.close();
    }
  });

  it('one that accepts and says nothing, as a stopped process does, is not the one to talk to', async () => {
    const { dataDir } = controller.test;
    await controller.server.stop();
    const stopped = net.createServer(() => undefined).listen(path.join(folder(), 'control.sock'));
    await once(stopped, 'listening');
    try {
      expect(await findControlSocket(dataDir)).toBe(node.server.socket);
      await node.server.stop();
      expect(await findControlSocket(dataDir)).toBe(path.join(folder(), 'control.sock'));
    } finally {
      stopped.close();
    }
  });

  it('the one that lives is found when the other is gone', async () => {
    const { dataDir } = controller.test;
    expect(await findControlSocket(dataDir)).toBe(controller.server.socket);
    await controller.server.stop();
    expect(await findControlSocket(dataDir)).toBe(node.server.socket);
    expect(
      (await connectControl({ socket: await findControlSocket(dataDir) }).status()).processes,
    ).toMatchObject([{ services: 'node' }]);
    await node.server.stop();
    await expect(findControlSocket(dataDir)).rejects.toMatchObject({
      code: 'unreachable',
      detail: expect.stringContaining(`fake-csi serve --data-dir ${dataDir}`),
    });
  });
});
