import { existsSync, readFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { CsiClient } from '../../src/csi/client';
import { Code, type CodeName, CsiError } from '../../src/csi/status';
import type { Host } from '../../src/host/host';
import { createLinuxHost } from '../../src/host/linux';
import { createMemoryHost } from '../../src/host/memory';
import { TestDriver, type TestDriverOptions } from '../support/driver';
import { heldToTheRules } from './answers';

/** A kind of machine that the tests run on. */
export interface Target {
  readonly name: 'memory' | 'loop';
  /** Mounts, files in them and devices are the kernel's. */
  readonly real: boolean;
}

const memory: Target = { name: 'memory', real: false };
const loop: Target = { name: 'loop', real: true };

const CAP_SYS_ADMIN = 21n;

/** Best run under `unshare -m`: then what a killed run leaves mounted is gone with it. */
export const targets: readonly Target[] = mayMount() ? [memory, loop] : [memory];

function mayMount(): boolean {
  if (!existsSync('/dev/loop-control')) return false;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return (BigInt(`0x${effective ?? '0'}`) & (1n << CAP_SYS_ADMIN)) !== 0n;
}

export type StartOptions = Partial<Omit<TestDriverOptions, 'host'>>;

/** One machine with a driver that the tests of a group share, and further ones that a test starts for itself. */
export class Bench {
  private machine: Host | undefined;
  private shared: TestDriver | undefined;
  private readonly started: TestDriver[] = [];
  private readonly kept: TestDriver[] = [];
  private folder = '';

  constructor(
    readonly target: Target,
    private readonly options: StartOptions,
  ) {}

  get host(): Host {
    if (!this.machine) throw new Error('expected an open bench');
    return this.machine;
  }

  get driver(): TestDriver {
    if (!this.shared) throw new Error('expected an open bench');
    return this.shared;
  }

  get csi(): CsiClient {
    return this.driver.csi;
  }

  /** A driver of the test's own, on the same machine unless another is given, ended after the test. */
  async start(options: StartOptions = {}, machine = this.host): Promise<TestDriver> {
    const driver = await this.launch(options, machine);
    this.started.push(driver);
    return driver;
  }

  /** One more driver that the whole group shares, for a beforeAll. */
  async keep(options: StartOptions): Promise<TestDriver> {
    const driver = await this.launch(options);
    this.kept.push(driver);
    return driver;
  }

  private async launch(options: StartOptions, host = this.host): Promise<TestDriver> {
    const driver = await TestDriver.start({ backend: this.target.name, ...options, host });
    return Object.assign(driver, { csi: heldToTheRules(driver.csi) });
  }

  async open(): Promise<void> {
    this.folder = await fs.mkdtemp(path.join(tmpdir(), 'fc-host-'));
    this.machine = this.target.real
      ? createLinuxHost({
          stateDir: this.folder,
          // Shared by all test files: a template of a size is made once.
          cacheDir: path.join(tmpdir(), 'fake-csi-test-cache'),
        })
      : createMemoryHost();
    this.shared = await this.launch(this.options);
  }

  async tidy(): Promise<void> {
    for (const driver of this.started.splice(0).reverse()) await this.end(driver);
  }

  async close(): Promise<void> {
    for (const driver of this.kept.reverse()) await this.end(driver);
    if (this.shared) await this.end(this.shared);
    await fs.rm(this.folder, { recursive: true, force: true });
  }

  /** What a failed test left mounted goes first: a folder must never be emptied through a mount. */
  private async end(driver: TestDriver): Promise<void> {
    await driver.stop();
    for (const { mountPoint } of (await this.host.mounts.list()).reverse())
      if (mountPoint.startsWith(`${driver.dir}/`)) await this.host.mounts.unmount(mountPoint, { lazy: true });
    for (const { index, backing } of await this.host.loops.list())
      if (backing.path.startsWith(`${driver.dir}/`)) await this.host.loops.detach(index);
    await fs.rm(driver.dir, { recursive: true, force: true });
  }
}

/** A group of tests that holds on every machine there is. */
export function conformance(title: string, body: (bench: Bench) => void, options: StartOptions = {}): void {
  for (const target of targets) group(`${title} on ${target.name}`, target, body, options);
}

/** A group of tests of what no machine has a part in: the wire, the rules for fields, what is advertised. */
export function protocol(title: string, body: (bench: Bench) => void, options: StartOptions = {}): void {
  group(title, memory, body, options);
}

function group(title: string, target: Target, body: (bench: Bench) => void, options: StartOptions): void {
  // A busy machine takes its time for real filesystems.
  jest.setTimeout(60_000);
  describe(title, () => {
    const bench = new Bench(target, options);
    beforeAll(() => bench.open());
    afterEach(() => bench.tidy());
    afterAll(() => bench.close());
    body(bench);
  });
}

export interface Refusal {
  code: CodeName;
  message: string;
}

/** The refusal of a call that must be refused. Every one has a canonical code and a sentence. */
export async function refusal(call: Promise<unknown>): Promise<Refusal> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof CsiError)) throw error;
    expect(Code[error.code]).toBeDefined();
    expect(error.message).toMatch(/\S+ \S+/);
    return { code: error.codeName, message: error.message };
  }
  throw new Error('expected a refusal, found OK');
}

/** `OK`, or the name of the code of a call that was refused. */
export async function outcome(call: Promise<unknown>): Promise<CodeName | 'OK'> {
  let refused = false;
  const noted = call.catch((error) => {
    refused = true;
    throw error;
  });
  await noted.catch(() => undefined);
  return refused ? (await refusal(noted)).code : 'OK';
}
