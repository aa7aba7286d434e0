import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FsType, LoopDevice, LoopDevices, Mounts } from '../../../src/host/host';
import { createLibc, type Libc } from '../../../src/host/libc';
import { createLoopDevices } from '../../../src/host/linux/loops';
import { LoopNodes } from '../../../src/host/linux/loops-nodes';
import { createMounts } from '../../../src/host/linux/mounts';

/** A folder of its own to mount in, with the parts of the Linux host under test. */
export interface Workspace {
  readonly folder: string;
  readonly libc: Libc;
  readonly mounts: Mounts;
  readonly loops: LoopDevices;
  /** Makes a folder in it. */
  makeFolder(name: string): string;
  /** Makes a file in it. */
  makeFile(name: string, text?: string): string;
  /** A sparse file of `mib` MiB, with a filesystem in it unless `fsType` is null. */
  makeDisk(name: string, fsType: FsType | null, mib: number): string;
  /** The same, attached to a loop device that goes with its last user. */
  attachDisk(name: string, fsType: FsType | null, mib: number): Promise<LoopDevice>;
  /** Loop devices as another process has them: they share nothing with `loops` but the kernel. */
  another(): LoopDevices;
  /** Releases every device that was attached or opened: a failed test holds on to its own. */
  releaseAll(): Promise<void>;
  /** Mount points below the folder, topmost last. */
  mounted(): Promise<string[]>;
}

/**
 * A group of tests that mount. After each test nothing may be mounted in the workspace and no loop device be attached to a
 * file of it; what was left is then cleared away.
 */
export function describeMounting(name: string, body: (workspace: Workspace) => void): void {
  describe(name, () => {
    const workspace = createWorkspace(mkdtempSync(join(tmpdir(), 'mounts-')));

    afterEach(async () => {
      const left = { mounts: await workspace.mounted(), loops: await attachedFiles(workspace) };
      await clearAway(workspace);
      expect(left).toEqual({ mounts: [], loops: [] });
    });
    afterAll(() => rmSync(workspace.folder, { recursive: true, force: true }));

    body(workspace);
  });
}

function createWorkspace(folder: string): Workspace {
  const libc = createLibc();
  const mounts = createMounts(libc);
  const devices: LoopDevice[] = [];
  const another = (): LoopDevices => {
    const own = createLibc();
    const kernel = createLoopDevices(own, new LoopNodes(own, { dev: '/dev', own: join(folder, 'dev') }));
    const remember = <T extends LoopDevice | null>(device: T): T => {
      if (device !== null) devices.push(device);
      return device;
    };
    return {
      ...kernel,
      attach: async (file, options) => remember(await kernel.attach(file, options)),
      open: async (index) => remember(await kernel.open(index)),
    };
  };
  const loops = another();
  const makeFile = (name: string, text = '') => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const makeDisk = (name: string, fsType: FsType | null, mib: number) => {
    const file = makeFile(name);
    truncateSync(file, mib << 20);
    if (fsType !== null) execFileSync(`mkfs.${fsType}`, ['-q', file], { stdio: 'pipe' });
    return file;
  };
  return {
    folder,
    libc,
    mounts,
    loops,
    makeFile,
    makeDisk,
    another,
    makeFolder(name) {
      mkdirSync(join(folder, name), { recursive: true });
      return join(folder, name);
    },
    attachDisk: (name, fsType, mib) =>
      loops.attach(makeDisk(name, fsType, mib), { readOnly: false, autoclear: true }),
    async releaseAll() {
      await Promise.all(devices.splice(0).map((device) => device.release()));
    },
    async mounted() {
      const table = await mounts.list();
      return table.map((entry) => entry.mountPoint).filter((point) => point.startsWith(`${folder}/`));
    },
  };
}

async function attachedFiles({ loops, folder }: Workspace): Promise<string[]> {
  const attached = await loops.list();
  return attached.map(({ backing }) => backing.path).filter((path) => path.startsWith(folder));
}

async function clearAway(workspace: Workspace): Promise<void> {
  const { mounts, loops, folder } = workspace;
  for (const point of (await workspace.mounted()).reverse()) {
    await mounts.thaw(point).catch(() => undefined);
    await mounts.unmount(point).catch(() => mounts.unmount(point, { lazy: true }));
  }
  await workspace.releaseAll();
  for (const { index, backing } of await loops.list()) {
    if (backing.path.startsWith(folder)) await loops.detach(index);
  }
}

/** A FUSE filesystem without a server: all calls on it wait, until `die` closes the connection and they fail. */
export async function mountUnanswered({ mounts }: Workspace, target: string): Promise<{ die(): void }> {
  const connection = openSync('/dev/fuse', 'r+');
  await mounts.mount({
    fsType: 'fuse',
    source: 'unanswered',
    target,
    readOnly: false,
    options: [`fd=${connection}`, 'rootmode=40000', 'user_id=0', 'group_id=0'],
  });
  return { die: () => closeSync(connection) };
}
