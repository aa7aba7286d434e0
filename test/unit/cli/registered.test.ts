import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { ControlServer } from '../../../src/control';
import { runCli } from '../../support/cli';
import type { PluginWatcherOptions } from '../../support/plugin-watcher';
import { RegisteredDriver } from '../../support/registered-driver';

jest.setTimeout(60_000);

const stages: RegisteredDriver[] = [];
const servers: ControlServer[] = [];
const before = process.env.FAKE_CSI_NODE_ID;
beforeEach(() => {
  process.env.FAKE_CSI_NODE_ID = 'node-1';
});
afterEach(async () => {
  if (before === undefined) delete process.env.FAKE_CSI_NODE_ID;
  else process.env.FAKE_CSI_NODE_ID = before;
  for (const server of servers.splice(0)) await server.stop();
  for (const stage of stages.splice(0)) await stage.close();
});

async function asked(kubelet: Partial<PluginWatcherOptions> = {}) {
  const stage = await RegisteredDriver.start({ kubelet });
  stages.push(stage);
  servers.push(await ControlServer.start(stage.driver.driver, {}));
  return { stage, ask: () => runCli(['status', '--registered', '--data-dir', stage.driver.dataDir]) };
}

describe('fake-csi status --registered', () => {
  it('waits for the kubelet, and is content once the kubelet is', async () => {
    const { stage, ask } = await asked();
    expect(await ask()).toMatchObject({ code: 1, out: 'waiting\n' });
    await stage.pass(1_000);
    expect(await ask()).toMatchObject({ code: 0, out: 'registered\n' });
  });

  it('asks for the process of its own node', async () => {
    const { ask } = await asked();
    process.env.FAKE_CSI_NODE_ID = 'another';
    expect(await ask()).toMatchObject({
      code: 1,
      err: 'fake-csi: no driver of node another answers on this data folder\n',
    });
  });

  it('ends as every command does where no driver answers', async () => {
    const empty = await fs.mkdtemp(path.join(tmpdir(), 'fc-'));
    expect(await runCli(['status', '--registered', '--data-dir', empty])).toMatchObject({ code: 3 });
    await fs.rm(empty, { recursive: true });
  });
});
