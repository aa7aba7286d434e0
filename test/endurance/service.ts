import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { type CsiClient, connectCsi } from '../../src/csi/client';
import type { DriverLike } from '../support/lifecycle';

const ROOT = path.join(__dirname, '../..');
const { NODE_FLAGS } = require('../../scripts/lib/node-flags.cjs') as { NODE_FLAGS: string[] };

/** Long for a start on a busy machine, short for one that hangs. */
const START_MS = 60_000;

/** `fake-csi serve` as a user runs it, in a process that may be killed. Its folders outlive it. */
export class Service implements DriverLike {
  private constructor(
    private readonly child: ChildProcess,
    private readonly dir: string,
    readonly csi: CsiClient,
  ) {}

  /**
   * @param dir short: the socket's path must stay below 108 bytes. Data, logs and the CO's folders lie in it.
   * @throws Error when it ends before it is ready, with the end of its log.
   */
  static async start(dir: string, options: readonly string[]): Promise<Service> {
    const socket = path.join(dir, 'csi.sock');
    const log = fs.openSync(path.join(dir, 'driver.log'), 'a');
    const words = [path.join(ROOT, 'dist/cli/main.js'), 'serve', '--endpoint', `unix://${socket}`];
    const child = spawn(
      process.execPath,
      [...NODE_FLAGS, ...words, '--data-dir', path.join(dir, 'data'), '--node-id', 'node-1', ...options],
      { stdio: ['ignore', log, log] },
    );
    fs.closeSync(log);
    const service = new Service(child, dir, connectCsi(socket));
    const latest = Date.now() + START_MS;
    while (!(await service.isReady())) {
      if (service.gone) throw new Error(`the driver ended with ${service.status}: ${logTail(dir)}`);
      if (Date.now() > latest) throw new Error(`the driver was not ready in time: ${logTail(dir)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return service;
  }

  private async isReady(): Promise<boolean> {
    const { ready } = await this.csi.Probe({}, { timeoutMs: 2000 }).catch(() => ({ ready: null }));
    return ready?.value === true;
  }

  get gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private get status(): string {
    return `${this.child.exitCode ?? this.child.signalCode}`;
  }

  /** Calls that are under way end with UNAVAILABLE; the client stays, so that whoever makes another learns the same. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.gone) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }

  /** When nobody calls any more. */
  close(): void {
    this.csi.close();
  }

  /** Resident memory in bytes. */
  get rss(): number {
    const status = fs.readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }

  /** Open file descriptors. */
  get descriptors(): number {
    return fs.readdirSync(`/proc/${this.child.pid}/fd`).length;
  }

  async folder(name: string): Promise<string> {
    const folder = path.join(this.dir, 'co', name);
    await fs.promises.mkdir(folder, { recursive: true });
    return folder;
  }

  async target(name: string): Promise<string> {
    return path.join(await this.folder('pods'), name);
  }
}

function logTail(dir: string): string {
  return fs.readFileSync(path.join(dir, 'driver.log'), 'utf8').trimEnd().split('\n').slice(-5).join('\n');
}
