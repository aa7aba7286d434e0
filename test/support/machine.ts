import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Host, MountEntry } from '../../src/host/host';
import { createLinuxHost } from '../../src/host/linux';
import { type Clock, systemClock } from '../../src/util/clock';
import { TestDriver, type TestDriverOptions } from './driver';
import { type Attached, attachedBelow, clearTraces, NO_TRACES, tracesBelow } from './leaks';
import { run } from './run';

/**
 * `shared`: mounts below the root show in all mount namespaces made after it, as on a node with systemd, and a bind of a
 * mount is its peer unless it is made otherwise. `asFound`: as whoever started the tests has it.
 */
export type MountTree = 'asFound' | 'shared';

/** The real machine, as one test file uses it: everything happens below one folder, and nothing may be left of it. */
export class RealMachine {
  /** Everything a test makes lies below it. */
  readonly root = fs.mkdtempSync(path.join(tmpdir(), 'm-'));
  readonly host: Host = createLinuxHost({
    stateDir: path.join(this.root, 'state'),
    // Shared by all test files: a template of a size is made once.
    cacheDir: path.join(tmpdir(), 'fake-csi-test-cache'),
  });
  private readonly drivers: TestDriver[] = [];
  private names = 0;

  constructor(private readonly tree: MountTree = 'asFound') {
    if (tree === 'asFound') return;
    run('mount', '--bind', this.root, this.root);
    // In two steps: where the root was shared before, its peers would be others'.
    run('mount', '--make-private', this.root);
    run('mount', '--make-shared', this.root);
  }

  /** A driver that is stopped with the machine. */
  async start(options: Partial<TestDriverOptions> = {}): Promise<TestDriver> {
    const driver = await TestDriver.start({ backend: 'loop', host: this.host, root: this.root, ...options });
    this.drivers.push(driver);
    return driver;
  }

  /** A folder with a name of its own. */
  folder(name = 'folder'): string {
    const folder = path.join(this.root, `${name}-${this.names++}`);
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** The lines of the mount table for one path, lowest first. */
  async mountsAt(mountPoint: string): Promise<MountEntry[]> {
    return (await this.host.mounts.list()).filter((entry) => entry.mountPoint === mountPoint);
  }

  /** The whole mount table below the root, as text: equal texts mean that nothing was mounted or unmounted. */
  async table(): Promise<string> {
    const entries = (await this.host.mounts.list()).filter((entry) => entry.mountPoint.startsWith(this.root));
    return entries
      .map((entry) => `${entry.mountId} ${entry.mountPoint} ${entry.options} ${entry.superOptions}`)
      .join('\n');
  }

  /** Loop devices over files below a folder (default: the root). */
  loops(folder = this.root): Attached[] {
    return attachedBelow(folder);
  }

  /** Runs a program; a failure shows what it printed. */
  run(program: string, ...args: string[]): string {
    return run(program, ...args);
  }

  async close(): Promise<void> {
    for (const driver of this.drivers) await driver.stop();
    const left = await tracesBelow(this.host, this.root);
    await clearTraces(this.host, this.root);
    if (this.tree === 'shared') run('umount', this.root);
    fs.rmSync(this.root, { recursive: true, force: true });
    expect(left).toEqual(NO_TRACES);
  }
}

/** A busy machine takes its time for real filesystems. */
const TEST_TIMEOUT_MS = 60_000;

/** The machine of one test file; at its end mounts and loop devices must be as they were. */
export function useMachine(tree: MountTree = 'asFound'): RealMachine {
  jest.setTimeout(TEST_TIMEOUT_MS);
  const machine = new RealMachine(tree);
  afterAll(() => machine.close());
  return machine;
}

/** A clock on which waits for something that will not happen are over soon. */
export const hurriedClock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() * 20 };
