import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type CsiClient, connectCsi } from '../../src/csi/client';
import { mountCapability } from '../support/lifecycle';

const root = path.join(__dirname, '../..');
jest.setTimeout(120_000);

/** A build of its own: the tests must not depend on what dist/ holds, nor change it while something runs from there. */
let build: string;
let scratch: string;
const running: ChildProcess[] = [];

beforeAll(() => {
  build = fs.mkdtempSync(path.join(tmpdir(), 'fc-build-'));
  for (const shared of ['node_modules', 'proto', 'package.json'])
    fs.symlinkSync(path.join(root, shared), path.join(build, shared));
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const words = ['-p', path.join(root, 'tsconfig.build.json'), '--outDir', path.join(build, 'dist')];
  execFileSync(
    process.execPath,
    [compiler, ...words, '--incremental', 'false', '--tsBuildInfoFile', 'null'],
    {
      stdio: 'pipe',
    },
  );
});
beforeEach(() => {
  scratch = fs.mkdtempSync(path.join(tmpdir(), 'fc-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) await stop(child);
  fs.rmSync(scratch, { recursive: true, force: true });
});
afterAll(() => fs.rmSync(build, { recursive: true, force: true }));

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return child.exitCode;
}

interface Serving {
  child: ChildProcess;
  /** What it has printed up to now. */
  output(): string;
  errors(): string;
}

function serve(words: string[], environment: NodeJS.ProcessEnv = {}): Serving {
  const { CSI_ENDPOINT: _endpoint, ...own } = process.env;
  const child = spawn(
    process.execPath,
    [path.join(build, 'dist/cli/main.js'), 'serve', '--backend', 'memory', ...words],
    { cwd: scratch, env: { ...own, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  running.push(child);
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk) => {
      said[stream] += chunk;
    });
  return { child, output: () => said.stdout, errors: () => said.stderr };
}

/** Waits for the greeting, which comes when the socket listens. */
async function listening(serving: Serving): Promise<string> {
  while (!/^Try next/m.test(serving.output())) {
    if (serving.child.exitCode !== null) throw new Error(`it ended: ${serving.errors()}`);
    await Promise.race([once(serving.child.stdout ?? serving.child, 'data'), once(serving.child, 'exit')]);
  }
  const socket = /unix:\/\/(\S+)/.exec(serving.output())?.[1];
  if (socket === undefined) throw new Error(`it named no socket: ${serving.output()}`);
  return socket;
}

async function refused(words: string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const serving = serve(['--data-dir', path.join(scratch, 'data'), ...words], environment);
  await once(serving.child, 'close');
  expect(serving.child.exitCode).not.toBe(0);
  expect(serving.output()).toBe('');
  const lines = serving.errors().trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

test.each([
  ['CSI_ENDPOINT=tcp://…', [], { CSI_ENDPOINT: 'tcp://127.0.0.1:9000' }, /tcp/],
  ['CSI_ENDPOINT without .sock', [], { CSI_ENDPOINT: 'unix:///tmp/fake-csi' }, /\.sock/],
  ['--endpoint of a path without .sock', ['--endpoint', '/tmp/fake-csi'], {}, /\.sock/],
  ['--endpoint http://…', ['--endpoint', 'http://localhost/a.sock'], {}, /http/],
  ['an endpoint too long for a socket', ['--endpoint', `/tmp/${'x'.repeat(100)}/csi.sock`], {}, /107/],
])('T21 %s: ends at once, with one clear line', async (_what, words, environment, says) => {
  const line = await refused(words, environment as NodeJS.ProcessEnv);
  expect(line).toMatch(/^fake-csi: endpoint /);
  expect(line).toMatch(says);
});

test('T21 neither CSI_ENDPOINT nor --endpoint: the default socket, and its path is printed', async () => {
  const socket = await listening(serve(['--data-dir', 'data']));
  expect(socket).toBe(path.join(fs.realpathSync(scratch), 'data', 'csi', 'csi.sock'));
  expect(fs.lstatSync(socket).isSocket()).toBe(true);
});

test.each([
  ['CSI_ENDPOINT', (socket: string) => ({ words: [], environment: { CSI_ENDPOINT: `unix://${socket}` } })],
  ['--endpoint', (socket: string) => ({ words: ['--endpoint', socket], environment: {} })],
])('T21 %s is obeyed', async (_what, how) => {
  const wanted = path.join(scratch, 'own.sock');
  const { words, environment } = how(wanted);
  expect(await listening(serve(['--data-dir', 'data', ...words], environment))).toBe(wanted);
});

test.each([
  ['of 64 characters', 'n'.repeat(64)],
  ['that is empty', ''],
  ['that begins with a dash', '-fake.test'],
  ['that ends with a dash', 'fake.test-'],
  ['with an underscore', 'fake_csi.test'],
  ['with a slash', 'fake/csi.test'],
  ['with a space', 'fake csi'],
  ['that ends with a dot', 'fake.test.'],
  ['with an empty label', 'fake..test'],
  ['with an umlaut', 'fäke.test'],
])('I01 a plugin name %s is refused at start', async (_what, name) => {
  expect(await refused([`--driver-name=${name}`])).toMatch(/^fake-csi: --driver-name: /);
});

test('I01 a name of 63 characters is served, with a topology of its own', async () => {
  const name = `${'n'.repeat(58)}.test`;
  const socket = await listening(serve(['--data-dir', 'data', '--driver-name', name]));
  const csi = connectCsi(socket);
  expect((await csi.GetPluginInfo()).name).toBe(name);
  const { accessible_topology } = await csi.NodeGetInfo();
  const call = csi.CreateVolume({
    name: 'v',
    volume_capabilities: [mountCapability()],
    accessibility_requirements: { requisite: accessible_topology ? [accessible_topology] : [] },
  });
  expect((await call).volume?.accessible_topology).toEqual([accessible_topology]);
  csi.close();
});

test.each([
  [
    'I05 OFFLINE without controller EXPAND_VOLUME',
    '--capabilities=-controller.EXPAND_VOLUME,OFFLINE',
    /OFFLINE/,
  ],
  ['I05 ONLINE without any EXPAND_VOLUME', '--capabilities=-EXPAND_VOLUME', /ONLINE/],
  [
    'A01 published nodes without attaching',
    '--capabilities=-PUBLISH_UNPUBLISH_VOLUME',
    /PUBLISH_UNPUBLISH_VOLUME/,
  ],
  ['an unknown capability', '--capabilities=-FLYING', /FLYING/],
])('%s: refused at start', async (_what, word, says) => {
  const line = await refused([word]);
  expect(line).toMatch(/^fake-csi: --capabilities: /);
  expect(line).toMatch(says);
});

test('I03 a node and a controller of one plugin: the same capabilities, name and version', async () => {
  const shared = ['--data-dir', 'data', '--advertise', 'all'];
  const clients: CsiClient[] = [];
  for (const services of ['controller', 'node']) {
    const words = ['--services', services, '--endpoint', path.join(scratch, `${services}.sock`)];
    clients.push(connectCsi(await listening(serve([...shared, ...words]))));
  }
  const [controller, node] = clients;
  expect(await node?.GetPluginCapabilities()).toEqual(await controller?.GetPluginCapabilities());
  expect(await node?.GetPluginInfo()).toEqual(await controller?.GetPluginInfo());
  for (const csi of clients) csi.close();
});

test('T22 after a whole lifecycle the folder of the socket holds the socket and nothing else', async () => {
  const folder = path.join(scratch, 'sockets');
  fs.mkdirSync(folder);
  const serving = serve(['--data-dir', 'data', '--endpoint', path.join(folder, 'csi.sock')]);
  const csi = connectCsi(await listening(serving));
  const only = () => expect(fs.readdirSync(folder)).toEqual(['csi.sock']);
  only();
  const volume_capability = mountCapability();
  const { node_id } = await csi.NodeGetInfo();
  const { volume } = await csi.CreateVolume({ name: 'v', volume_capabilities: [volume_capability] });
  const volume_id = volume?.volume_id ?? '';
  const { publish_context } = await csi.ControllerPublishVolume({ volume_id, node_id, volume_capability });
  const staging_target_path = path.join(scratch, 'staging');
  const target_path = path.join(scratch, 'target');
  fs.mkdirSync(staging_target_path);
  const stage = { volume_id, staging_target_path, volume_capability, publish_context };
  await csi.NodeStageVolume(stage);
  await csi.NodePublishVolume({ ...stage, target_path });
  only();
  const { snapshot } = await csi.CreateSnapshot({ name: 's', source_volume_id: volume_id });
  await csi.DeleteSnapshot({ snapshot_id: snapshot?.snapshot_id ?? '' });
  await csi.NodeUnpublishVolume({ volume_id, target_path });
  await csi.NodeUnstageVolume({ volume_id, staging_target_path });
  await csi.ControllerUnpublishVolume({ volume_id });
  await csi.DeleteVolume({ volume_id });
  only();
  csi.close();
  expect(await stop(serving.child)).toBe(0);
  expect(fs.readdirSync(folder)).toEqual([]);
});
