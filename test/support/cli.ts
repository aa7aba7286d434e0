import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

const WORDS = [
  '-r',
  path.join(__dirname, 'typescript-hook.cjs'),
  path.join(__dirname, '../../src/cli/main.ts'),
];

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs one command of `fake-csi` to its end. */
export async function runCli(words: readonly string[], input = ''): Promise<Ended> {
  const child = spawnCli(words);
  let out = '';
  let err = '';
  child.stdout?.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr?.on('data', (data: Buffer) => {
    err += data.toString();
  });
  child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

export function spawnCli(words: readonly string[]): ChildProcess {
  // Jest gives a test an environment of its own, which a child would not have by itself.
  const env = { ...process.env };
  return spawn(process.execPath, [...WORDS, ...words], { stdio: ['pipe', 'pipe', 'pipe'], env });
}

/** A driver with the backend `memory` in a process of its own, and its data folder; gone after the tests of the file. */
export function useServing(...words: string[]) {
  const serving = { dataDir: '', socket: '' };
  let child: ChildProcess;
  beforeAll(async () => {
    // Short: a socket's path has 107 bytes.
    serving.dataDir = await fs.mkdtemp(path.join(tmpdir(), 'fc-cli-'));
    serving.socket = path.join(serving.dataDir, 'csi', 'csi.sock');
    child = spawnCli([
      'serve',
      '--data-dir',
      serving.dataDir,
      '--backend',
      'memory',
      '--node-id',
      'node-1',
      '--log-level',
      'silent',
      ...words,
    ]);
    // It greets when both sockets listen.
    await Promise.race([
      once(child.stdout as NodeJS.ReadableStream, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('the driver ended'))),
    ]);
  }, 60_000);
  afterAll(async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await fs.rm(serving.dataDir, { recursive: true, force: true });
  });
  return serving;
}
