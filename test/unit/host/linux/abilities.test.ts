import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostError } from '../../../../src/host/host';
import { createLibc, type Libc } from '../../../../src/host/libc';
import { findAbilities } from '../../../../src/host/linux/abilities';
import type { LoopNodes } from '../../../../src/host/linux/loops-nodes';

const ALL_CAPABILITIES = '000001ffffffffff';
const ALL_BUT_SYS_RESOURCE = '000001fffeffffff';
const INITIAL_NAMESPACE = '         0          0 4294967295\n';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abilities-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Machine {
  capabilities: string;
  uidMap?: string;
  tools?: readonly string[];
  /** Errno of fsopen(2) by filesystem type. */
  fsopen?: Readonly<Record<string, string>>;
  loops?: HostError;
}

/** What a machine of which only these facts are known would answer. */
function abilitiesOf({ capabilities, uidMap = INITIAL_NAMESPACE, tools = [], fsopen = {}, loops }: Machine) {
  mkdirSync(join(folder, 'self'));
  writeFileSync(
    join(folder, 'self/status'),
    `Name:\tnode\nCapEff:\t${capabilities}\nCapBnd:\t0000000000000000\n`,
  );
  writeFileSync(join(folder, 'self/uid_map'), uidMap);
  writeFileSync(join(folder, 'filesystems'), 'nodev\ttmpfs\n\text4\n\txfs\n');
  mkdirSync(join(folder, 'bin'));
  for (const tool of tools) {
    writeFileSync(join(folder, 'bin', tool), '');
    chmodSync(join(folder, 'bin', tool), 0o755);
  }
  const libc: Libc = {
    ...createLibc(),
    async fsopen(type) {
      const errno = fsopen[type];
      if (errno !== undefined) throw new HostError(errno, 'fsopen', `fsopen: ${type}: ${errno}`);
      return 1000;
    },
    fsconfigCommand: async () => undefined,
    fsmountSync: () => 1001,
    close: async () => undefined,
  };
  const nodes = {
    async freeIndex() {
      if (loops !== undefined) throw loops;
      return 0;
    },
  } as unknown as LoopNodes;
  return findAbilities({
    libc,
    nodes,
    proc: folder,
    searchPath: `/nowhere:${join(folder, 'bin')}`,
    sbin: [],
  });
}

test('everything there: everything is true', async () => {
  const tools = ['mkfs.ext4', 'mkfs.xfs', 'mkfs.btrfs'];
  expect(await abilitiesOf({ capabilities: ALL_CAPABILITIES, tools })).toEqual({
    mount: true,
    loop: true,
    growMountedExt4: true,
    filesystems: { ext4: true, xfs: true, btrfs: true },
  });
});

test('an unprivileged process is told what to run as', async () => {
  const abilities = await abilitiesOf({ capabilities: '0000000000000000' });
  expect(abilities.mount).toMatch(/CAP_SYS_ADMIN.*privileged: true/);
  expect(abilities.loop).toMatch(/CAP_SYS_ADMIN.*privileged: true/);
  expect(abilities.growMountedExt4).toMatch(/CAP_SYS_RESOURCE/);
});

test('root without CAP_SYS_RESOURCE can do all but grow a mounted ext4', async () => {
  expect(await abilitiesOf({ capabilities: ALL_BUT_SYS_RESOURCE })).toMatchObject({
    mount: true,
    loop: true,
    growMountedExt4: expect.stringMatching(/CAP_SYS_RESOURCE.*grant it/),
  });
});

test('capabilities of a user namespace mount tmpfs, but no device', async () => {
  const abilities = await abilitiesOf({ capabilities: ALL_CAPABILITIES, uidMap: '0 1000 1\n' });
  expect(abilities).toMatchObject({
    mount: true,
    loop: expect.stringMatching(/user namespace/),
    growMountedExt4: expect.any(String),
  });
});

test('a filter that forbids the trial mount is named; missing calls alone are not a lack', async () => {
  expect(await abilitiesOf({ capabilities: ALL_CAPABILITIES, fsopen: { tmpfs: 'EPERM' } })).toMatchObject({
    mount: expect.stringMatching(/EPERM.*seccomp/),
  });
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  expect(await abilitiesOf({ capabilities: ALL_CAPABILITIES, fsopen: { tmpfs: 'ENOSYS' } })).toMatchObject({
    mount: true,
  });
});

test.each([
  ['ENODEV', /modprobe loop/],
  ['EPERM', /privileged: true/],
])('loop devices that answer %s: what to do', async (errno, advice) => {
  const loops = new HostError(errno, 'open', `open: /dev/loop-control: ${errno}`);
  expect(await abilitiesOf({ capabilities: ALL_CAPABILITIES, loops })).toMatchObject({
    loop: expect.stringMatching(advice),
  });
});

test('a filesystem needs its mkfs and the kernel; each lack has its own advice', async () => {
  const tools = ['mkfs.ext4', 'mkfs.btrfs'];
  const { filesystems } = await abilitiesOf({
    capabilities: ALL_CAPABILITIES,
    tools,
    fsopen: { btrfs: 'ENODEV' },
  });
  expect(filesystems).toEqual({
    ext4: true,
    xfs: expect.stringMatching(/mkfs\.xfs is not installed.*xfsprogs/),
    btrfs: expect.stringMatching(/does not know btrfs.*modprobe btrfs/),
  });
});
