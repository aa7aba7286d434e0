// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { CsiError, type FakeCsi, startFakeCsi } from '../../../src';

const ROOT = path.join(__dirname, '../../..');
const CAPABILITY = { mount: { fs_type: 'ext4' }, access_mode: { mode: 1 } } as const;

async function createVolume(csi: FakeCsi, name: string): Promise<string> {
  const { volume } = await csi.client.CreateVolume({
    name,
    capacity_range: { required_bytes: 64 << 20 },
    volume_capabilities: [CAPABILITY],
  });
  return volume?.volume_id ?? '';
}

async function stage(csi: FakeCsi, volume_id: string): Promise<void> {
  await csi.client.NodeStageVolume({
    volume_id,
    staging_target_path: await csi.folder(`stage-${volume_id}`),
    volume_capability: CAPABILITY,
    publish_context: await attach(csi, volume_id),
  });
}

async function attach(csi: FakeCsi, volume_id: string): Promise<Record<string, string>> {
  const { publish_context } = await csi.client.ControllerPublishVolume({
    volume_id,
    node_id: 'node-1',
    volume_capability: CAPABILITY,
  });
  return publish_context;
}

test('a driver without options listens on a short socket, answers, and leaves nothing behind', async () => {
  const csi = await startFakeCsi();
  expect(csi.endpoint).toBe(`unix://${csi.socket}`);
  expect(Buffer.byteLength(csi.socket)).toBeLessThanOrEqual(107);
  expect((await csi.client.GetPluginInfo()).name).toBe('fake.csi.test');
  expect((await csi.client.NodeGetInfo()).node_id).toBe('node-1');
  const folder = await csi.folder('some');
  await csi.stop();
  expect(existsSync(csi.socket)).toBe(false);
  expect(existsSync(csi.dataDir)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test('options say who the driver is and what it can do', async () => {
  const csi = await startFakeCsi({
    nodeId: 'worker-7',
    driverName: 'other.csi.test',
    fsType: 'xfs',
    capacity: '1Gi',
    capabilities: ['-LIST_VOLUMES'],
    topology: { 'topology.other.csi.test/zone': 'b' },
  });
  try {
    const info = await csi.client.NodeGetInfo();
    expect(info.node_id).toBe('worker-7');
    expect(info.accessible_topology?.segments).toEqual({ 'topology.other.csi.test/zone': 'b' });
    expect((await csi.client.GetCapacity({})).available_capacity).toBe(`${1 << 30}`);
    await expect(csi.client.ListVolumes({})).rejects.toMatchObject({ codeName: 'UNIMPLEMENTED' });
  } finally {
    await csi.stop();
  }
});

test.each([
  [{ capacity: 'lots' }, /capacity: expected a size such as 10Gi.*found lots/],
  [{ capabilities: '-LIST_VOLUME' }, /unknown capability "LIST_VOLUME"/],
  [{ endpoint: `unix:///tmp/${'x'.repeat(120)}/csi.sock` }, /at most 107 bytes/],
  [{ scenario: 'no/such.yaml' }, /no such file or folder/],
  [{ restartAfter: 'soon' }, /restartAfter: expected a duration/],
])('%p is refused with one line', async (options, message) => {
  await expect(startFakeCsi(options)).rejects.toThrow(message);
});

test('drivers side by side know nothing of each other', async () => {
  const all = await Promise.all(['a', 'b', 'c'].map((nodeId) => startFakeCsi({ nodeId })));
  try {
    await all[0]?.rule('CreateVolume: INTERNAL');
    const answers = await Promise.allSettled(all.map((csi) => createVolume(csi, 'v')));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(all.map((csi) => csi.calls({ rpc: 'CreateVolume' }).length)).toEqual([1, 1, 1]);
    expect(await Promise.all(all.map(async (csi) => (await csi.volumes()).length))).toEqual([0, 1, 1]);
  } finally {
    await Promise.all(all.map((csi) => csi.stop()));
  }
});

test('a restart keeps volumes, mounts, the counters of rules and the recorded calls', async () => {
  const csi = await startFakeCsi();
  try {
    const id = await createVolume(csi, 'kept');
    await stage(csi, id);
    const rule = await csi.rule('Probe: 2*UNAVAILABLE -> ok');
    await expect(csi.client.Probe()).rejects.toThrow(CsiError);
    await csi.restart();
    expect(await csi.volumes()).toMatchObject([{ id, state: 'staged' }]);
    await expect(csi.client.Probe()).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
    await csi.client.Probe();
    expect(rule.fired).toBe(3);
    expect(csi.calls({ rpc: 'Probe', code: 'UNAVAILABLE' })).toHaveLength(2);
    expect(await csi.leaks()).toEqual({ loops: [], mounts: [], frozen: [] });
  } finally {
    await csi.stop();
  }
});

test('a crash cuts calls off where they are, and nothing of them is done later', async () => {
  const csi = await startFakeCsi();
  try {
    const id = await createVolume(csi, 'v');
    const context = await attach(csi, id);
    const staging_target_path = await csi.folder('staging');
    const rule = await csi.rule({
      match: { rpc: 'NodeStageVolume' },
      when: { times: 1 },
      then: [{ at: 'locked' }, { delay: '30s' }],
    });
    const request = {
      volume_id: id,
      staging_target_path,
      volume_capability: CAPABILITY,
      publish_context: context,
    };
    const cut = expect(csi.client.NodeStageVolume(request)).rejects.toMatchObject({
      codeName: 'UNAVAILABLE',
    });
    await rule.waitForFire();
    await csi.crash();
    await cut;
    await expect(csi.client.Probe()).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
    await expect(csi.volumes()).rejects.toThrow('the driver is down: restart() starts it again');
    await csi.restart();
    // Its lock went with the process; it never answered.
    expect(csi.calls({ rpc: 'NodeStageVolume' })).toMatchObject([{ lost: true }]);
    expect(await csi.volumes()).toMatchObject([{ state: 'attached' }]);
    await csi.client.NodeStageVolume(request);
    expect(await csi.volumes()).toMatchObject([{ state: 'staged' }]);
  } finally {
    await csi.stop();
  }
});

test('a rule that ends the process ends the driver alone, which comes back', async () => {
  const csi = await startFakeCsi();
  const { pid } = process;
  try {
    const rule = await csi.rule({
      match: { rpc: 'CreateVolume' },
      when: { times: 1 },
      then: [{ at: 'after' }, { process: { exit: 137 } }],
    });
    await expect(createVolume(csi, 'v')).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
    // Waits until it is back; the work had been done.
    expect(await csi.volumes()).toHaveLength(1);
    await createVolume(csi, 'v');
    expect(await csi.volumes()).toHaveLength(1);
    expect(rule.fired).toBe(1);
    expect(process.pid).toBe(pid);
    expect(csi.calls({ rpc: 'CreateVolume' })).toMatchObject([{ lost: true }, { code: 'OK' }]);
  } finally {
    await csi.stop();
  }
});

test('it stays down when restartAfter says so', async () => {
  const csi = await startFakeCsi({ restartAfter: false });
  try {
    await csi.rule({ match: { rpc: 'Probe' }, when: { times: 1 }, then: [{ process: { exit: 1 } }] });
    await expect(csi.client.Probe()).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
    await expect(csi.volumes()).rejects.toThrow('the driver is down');
    await csi.restart();
    await csi.client.Probe();
  } finally {
    await csi.stop();
  }
});

test('a stopped process takes connections and answers nothing until it goes on', async () => {
  const csi = await startFakeCsi();
  try {
    const rule = await csi.rule({
      match: { rpc: 'GetPluginInfo' },
      then: [{ process: { stopFor: '300ms' } }],
    });
    const began = performance.now();
    const stopping = csi.client.GetPluginInfo();
    await rule.waitForFire();
    await expect(csi.client.Probe({}, { timeoutMs: 50 })).rejects.toMatchObject({
      codeName: 'DEADLINE_EXCEEDED',
    });
    await new Promise<void>((resolve, reject) => {
      const socket = connect(csi.socket, () => {
        socket.destroy();
        resolve();
      }).on('error', reject);
    });
    await Promise.all([stopping, csi.client.Probe()]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(299);
  } finally {
    await csi.stop();
  }
});

test('stop lets go of calls that hang, and their answers arrive', async () => {
  const csi = await startFakeCsi();
  const rule = await csi.rule({ match: { rpc: 'Probe' }, then: [{ hang: 'release' }] });
  const hung = csi.client.Probe();
  await rule.waitForFire();
  await csi.restart();
  expect((await hung).ready).toEqual({ value: true });
  const stopping = csi.stop();
  expect(csi.stop()).toBe(stopping);
  await stopping;
  await rule.remove();
  await expect(csi.rule('Probe: INTERNAL')).rejects.toThrow('the driver has been stopped');
});

test('a process whose driver was never stopped ends by itself', () => {
  const program = `
    require('${path.join(ROOT, 'test/support/typescript-hook.cjs')}');
    const { startFakeCsi } = require('${path.join(ROOT, 'src')}');
    startFakeCsi().then(async (csi) => {
      await csi.rule('Probe: 1*UNAVAILABLE -> ok');
      await csi.client.Probe().catch((error) => console.log(error.codeName));
    });`;
  const scratch = mkdtempSync(path.join(tmpdir(), 'fc-'));
  const { status, stdout } = spawnSync(process.execPath, ['-e', program], {
    env: { ...process.env, TMPDIR: scratch },
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'UNAVAILABLE\n' });
  rmSync(scratch, { recursive: true });
});
