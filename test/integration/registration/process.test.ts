import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { connectCsi } from '../../../src/csi/client';
import { systemClock } from '../../../src/util/clock';
import { mountCapability } from '../../support/lifecycle';
import { PluginWatcher } from '../../support/plugin-watcher';
import { run } from '../../support/run';
import { until } from '../../support/until';

jest.setTimeout(60_000);

const DRIVER = 'fake.csi.test';
const MAIN = path.join(__dirname, '../../../src/cli/main.ts');
const HOOK = path.join(__dirname, '../../support/typescript-hook.cjs');

/** A folder of a kubelet on a mount of its own, whose propagation the tests choose. */
let kubeletDir: string;
let scratch: string;
let children: ChildProcess[];
let kubelet: PluginWatcher;

beforeEach(() => {
  scratch = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'fr-')));
  kubeletDir = path.join(scratch, 'kubelet');
  fs.mkdirSync(kubeletDir);
  run('mount', '-t', 'tmpfs', 'kubelet', kubeletDir);
  run('mount', '--make-shared', kubeletDir);
  children = [];
  kubelet = new PluginWatcher({ folder: registry(), clock: systemClock });
  kubelet.start();
});

afterEach(async () => {
  kubelet.stop();
  for (const child of children) await end(child, 'SIGKILL');
  run('umount', '-R', kubeletDir);
  fs.rmSync(scratch, { recursive: true, force: true });
});

const registry = () => path.join(kubeletDir, 'plugins_registry');
const dataDir = () => path.join(scratch, 'data');

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
  return child.exitCode;
}

/** Resolves with what it printed when it says that it serves, or with its last words. */
async function serve(...words: string[]): Promise<{ child: ChildProcess; output: string; log(): string }> {
  const data = words.includes('--data-dir') ? [] : ['--data-dir', dataDir()];
  const all = ['serve', '--kubelet-dir', kubeletDir, ...data, ...words];
  const child = spawn(process.execPath, ['-r', HOOK, MAIN, ...all], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let output = '';
  let log = '';
  child.stderr.on('data', (data) => {
    log += String(data);
  });
  child.stdout.on('data', (data) => {
    output += String(data);
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  return { child, output, log: () => log };
}

/** Resolves when the kubelet has done so. */
const kubeletHas = (condition: () => boolean) =>
  until('the kubelet has done its part', condition).catch((error: Error) => {
    throw new Error(`${error.message}; it told ${kubelet.told()}`);
  });

/** Resolves when the driver has been told so. */
const registered = () => kubeletHas(() => kubelet.told().endsWith('registered') && kubelet.has(DRIVER));

function cli(...words: string[]): string {
  return run(process.execPath, '-r', HOOK, MAIN, ...words, '--data-dir', dataDir());
}

it('registers, mounts for the kubelet, and is gone after SIGTERM', async () => {
  const { child, output, log } = await serve('--register', '--backend', 'tmpfs');
  expect(output).toContain(`  kubelet   ${registry()}/${DRIVER}-reg.sock\n`);
  await registered();
  expect(fs.statSync(path.join(registry(), `${DRIVER}-reg.sock`)).mode & 0o777).toBe(0o600);
  expect(cli('status')).toMatch(/REGISTRATION[\s\S]*registered/);
  expect(cli('doctor')).toContain('✓ mounts reach the kubelet');
  expect(log()).not.toContain('are not seen by the kubelet');

  expect(await end(child, 'SIGTERM')).toBe(0);
  expect(fs.readdirSync(registry())).toEqual([]);
  await kubeletHas(() => !kubelet.has(DRIVER));
});

it('leaves its socket when it is killed; the next process replaces it and is registered anew', async () => {
  const first = await serve('--register', '--backend', 'memory');
  await registered();
  await end(first.child, 'SIGKILL');
  expect(fs.readdirSync(registry())).toEqual([`${DRIVER}-reg.sock`]);
  expect(kubelet.has(DRIVER)).toBe(true);

  const second = await serve('--register', '--backend', 'memory');
  // How often it is asked in between depends on how fast it comes up.
  await kubeletHas(() => /unregistered, .*\bregistered$/.test(kubelet.told()));
  expect(second.log()).toContain('removed a registration socket that nobody listened on');
});

it('is refused beside a driver of the same name', async () => {
  await serve('--register', '--backend', 'memory');
  const words = ['--register', '--backend', 'memory', '--data-dir', path.join(scratch, 'other')];
  const second = await serve(...words);
  await end(second.child, 'SIGTERM');
  expect(second.log()).toContain(
    `--register ${registry()}/${DRIVER}-reg.sock: another process listens there; stop it or choose another --driver-name`,
  );
  expect(second.child.exitCode).toBe(1);
});

it('says once, everywhere, that the kubelet would not see its mounts', async () => {
  run('mount', '--make-private', kubeletDir);
  const { output, log } = await serve('--register', '--backend', 'tmpfs');
  const warning = `mounts made in ${kubeletDir}/pods are not seen by the kubelet: the mount at ${kubeletDir} is private`;
  expect(output).toContain(warning);
  expect(log().split(warning)).toHaveLength(2);
  await registered();
  expect(cli('status')).toContain(warning);
  expect(cli('doctor')).toContain(`✗ mounts reach the kubelet: ${warning}`);
  expect(cli('doctor')).toContain('mountPropagation: Bidirectional');
});

it('answers node-driver-registrar in time, where that registers it', async () => {
  const { output } = await serve('--backend', 'tmpfs');
  expect(output).toContain(`  kubelet   ${kubeletDir}; somebody else registers the driver`);
  expect(fs.readdirSync(registry())).toEqual([]);
  expect(cli('status')).toMatch(/ off /);
  const socket = path.join(dataDir(), 'csi', 'csi.sock');
  const csi = connectCsi(socket);
  // Its --timeout, also for the first connection.
  expect(await csi.GetPluginInfo({}, { timeoutMs: 1_000 })).toMatchObject({ name: DRIVER });
  // A node's own calls do not wait for what else goes on.
  const busy = csi.CreateVolume({ name: 'v', volume_capabilities: [mountCapability()] });
  expect(await csi.GetPluginInfo({}, { timeoutMs: 1_000 })).toMatchObject({ name: DRIVER });
  await busy;
  csi.close();
});
