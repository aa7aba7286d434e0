import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { ControlServer } from '../../../src/control';
import { connectControl, findControlSocket } from '../../../src/control/client';
import { createMemoryHost } from '../../../src/host/memory';
import { silentLog, TestDriver } from '../../support/driver';
import { listenAndLeave, startControlled } from './support';

const scratch: string[] = [];
afterEach(() => {
  for (const folder of scratch.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = fs.mkdtempSync(path.join(tmpdir(), 'fc-'));
  scratch.push(made);
  return made;
}

it('a data folder whose path is too long for a socket is served without one, and the log says why', async () => {
  const warned: string[] = [];
  const dataDir = path.join(folder(), 'd'.repeat(100));
  const test = await TestDriver.start({
    backend: 'memory',
    host: createMemoryHost(),
    dataDir,
    log: { ...silentLog, warn: (_, message) => warned.push(message) },
  });
  const server = await ControlServer.start(test.driver, { listen: '127.0.0.1:0' });
  try {
    expect(server.socket).toBeUndefined();
    expect(warned).toEqual([expect.stringContaining('at most 107 bytes')]);
    const token = fs.readFileSync(path.join(dataDir, 'control-token'), 'utf8').trim();
    const { processes } = await connectControl({ url: server.url ?? '', token }).status();
    expect(processes[0]?.controlSocket).toBeUndefined();
  } finally {
    await server.stop();
    await test.close();
  }
});

it('takes the place of a socket that a killed process left, and leaves none itself', async () => {
  const dataDir = folder();
  fs.mkdirSync(path.join(dataDir, 'control'));
  const socket = path.join(dataDir, 'control', 'control.sock');
  await listenAndLeave(socket);
  expect(fs.lstatSync(socket).isSocket()).toBe(true);
  const it_ = await startControlled({ dataDir });
  expect(it_.server.socket).toBe(socket);
  expect((await it_.control.status()).processes).toHaveLength(1);
  expect(fs.readdirSync(path.dirname(socket))).toEqual(['control.sock']);
  await it_.close();
  expect(fs.readdirSync(path.dirname(socket))).toEqual([]);
});

it('what is in the way of the folder is logged, and the driver serves', async () => {
  const dataDir = folder();
  fs.writeFileSync(path.join(dataDir, 'control'), '');
  const errors: object[] = [];
  const log = { ...silentLog, error: (fields: object) => errors.push(fields) };
  const it_ = await startControlled({ dataDir, log });
  try {
    expect(it_.server.socket).toBeUndefined();
    expect(errors).toHaveLength(1);
    expect(await it_.test.csi.Probe()).toBeDefined();
  } finally {
    await it_.close();
  }
});

it('a client says what to start where nobody listens', async () => {
  const dataDir = folder();
  await expect(findControlSocket(dataDir)).rejects.toMatchObject({
    code: 'unreachable',
    status: 0,
    detail: expect.stringContaining('there is no control socket'),
  });
  await expect(connectControl({ socket: path.join(dataDir, 'none.sock') }).status()).rejects.toMatchObject({
    code: 'unreachable',
    detail: expect.stringContaining('there is no such socket'),
  });
  await expect(connectControl({ url: 'http://127.0.0.1:1' }).status()).rejects.toMatchObject({
    code: 'unreachable',
    detail: expect.stringContaining('nobody listens there'),
  });
  await expect(connectControl({ url: 'https://127.0.0.1:1' }).status()).rejects.toMatchObject({
    detail: expect.stringContaining('expected a URL such as http://127.0.0.1:9810'),
  });
});
