import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import type { FsType, Host } from '../../../src/host/host';
import { createLinuxHost } from '../../../src/host/linux';

/** Runs a program and gives what it printed; a failure shows it. */
export function run(program: string, ...args: string[]): string {
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...process.env, PATH, LC_ALL: 'C' },
  });
}

/** e2fsck in read-only mode; throws with its output when anything is wrong. */
export const checkExt4 = (file: string) => run('e2fsck', '-fn', file);

/** A folder and the real machine; everything is gone after `close`. */
export class Machine {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-fs-'));
  readonly host: Host = createLinuxHost({ stateDir: this.at('state'), cacheDir: this.at('cache') });
  private readonly undo: (() => Promise<void>)[] = [];
  private names = 0;

  at(name: string): string {
    return path.join(this.folder, name);
  }

  /** A sparse file with a name of its own. */
  async disk(sizeBytes: bigint, folder = this.folder): Promise<string> {
    const file = path.join(folder, `disk-${this.names++}`);
    await this.host.disks.ensureSize(file, sizeBytes);
    return file;
  }

  async formatted(sizeBytes: bigint, fsType: FsType): Promise<string> {
    const file = await this.disk(sizeBytes);
    await this.host.filesystems.format(file, fsType);
    return file;
  }

  /** A tmpfs of `sizeBytes` for as long as the test runs. */
  async tmpfs(sizeBytes: bigint): Promise<string> {
    const target = this.at(`tmpfs-${this.names++}`);
    fs.mkdirSync(target);
    const options = [`size=${sizeBytes}`];
    await this.host.mounts.mount({ fsType: 'tmpfs', source: 'tmpfs', target, readOnly: false, options });
    this.undo.push(() => this.host.mounts.unmount(target));
    return target;
  }

  /** A loop device of `file` for as long as the test runs. */
  async device(file: string): Promise<{ path: string; index: number }> {
    const device = await this.host.loops.attach(file, { readOnly: false, autoclear: false });
    this.undo.push(async () => {
      await device.release();
      await this.host.loops.detach(device.index);
    });
    return device;
  }

  /** Mounts `file` for as long as `use` takes. */
  async mounted(
    file: string,
    fsType: string,
    use: (mountPoint: string, device: { index: number; path: string }) => Promise<void>,
    options: string[] = [],
  ): Promise<void> {
    const device = await this.host.loops.attach(file, { readOnly: false, autoclear: false });
    const target = this.at(`mount-${this.names++}`);
    fs.mkdirSync(target);
    try {
      await this.host.mounts.mount({ fsType, source: device.path, target, readOnly: false, options });
      try {
        await use(target, device);
      } finally {
        await this.host.mounts.unmount(target);
      }
    } finally {
      await device.release();
      await this.host.loops.detach(device.index);
    }
  }

  async close(): Promise<void> {
    for (const step of this.undo.reverse()) await step();
    fs.rmSync(this.folder, { recursive: true });
  }
}

/** Gives each test of a file a machine of its own, and closes it. */
export function eachOnMachine(use: (fresh: Machine) => void): void {
  let machine: Machine;
  beforeEach(() => {
    machine = new Machine();
    use(machine);
  });
  afterEach(() => machine.close());
}
