import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { type CsiClient, connectCsi } from '../../src/csi/client';
import type { ChildConfig } from './driver-child';
import type { DriverLike } from './lifecycle';

/** A driver in a process of its own, to be killed at a point of its work. */
export class DriverProcess implements DriverLike {
  private reachedCount = 0;
  private armed = false;
  private waiting: (() => void)[] = [];

  private constructor(
    private readonly child: ChildProcess,
    readonly csi: CsiClient,
    private readonly dir: string,
    readonly dataDir: string,
  ) {}

  static async start(config: Omit<ChildConfig, 'cacheDir'>): Promise<DriverProcess> {
    const all: ChildConfig = { ...config, cacheDir: path.join(tmpdir(), 'fake-csi-test-cache') };
    const hook = path.join(__dirname, 'typescript-hook.cjs');
    const child = spawn(
      process.execPath,
      ['-r', hook, path.join(__dirname, 'driver-child.ts'), JSON.stringify(all)],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        // Jest gives tests a copy of it, of which a child would not know.
        env: process.env,
      },
    );
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([
      once(lines, 'line').then(([line]) => String(line)),
      once(child, 'exit').then(([code]) => `exited with ${code}`),
    ]);
    const dir = /^ready (.*)$/.exec(first)?.[1];
    if (dir === undefined) throw new Error(`the driver's process ${first}`);
    const driver = new DriverProcess(child, connectCsi(path.join(dir, 'csi.sock')), dir, config.dataDir);
    lines.on('line', (line) => {
      if (line === 'armed') driver.armed = true;
      else driver.reachedCount += 1;
      for (const look of driver.waiting) look();
    });
    return driver;
  }

  /** From now on calls are held at the point. */
  async arm(): Promise<void> {
    this.child.stdin?.write('arm\n');
    await this.until(() => this.armed);
  }

  /** Resolves when `count` calls are held at the point. */
  reached(count: number): Promise<void> {
    return this.until(() => this.reachedCount >= count);
  }

  private until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (condition()) resolve();
      };
      this.waiting.push(look);
      look();
    });
  }

  /** Of a process that ended by itself; resolves when it has. */
  async exitCode(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    this.csi.close();
    return this.child.exitCode;
  }

  /** SIGKILL; resolves when the process is gone, if it is not already. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
    this.csi.close();
  }

  async folder(name: string): Promise<string> {
    const folder = path.join(this.dir, name);
    await fs.mkdir(folder, { recursive: true });
    return folder;
  }

  async target(name: string): Promise<string> {
    await this.folder('pods');
    return path.join(this.dir, 'pods', name);
  }
}
