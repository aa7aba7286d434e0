import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import type { Report } from '../../../src/cli/reap/report';
import { runCli } from '../../support/cli';
import { killedDriver, type Left } from '../../support/killed';
import { ALL_KINDS, KINDS, type Kind, readMark } from '../../support/kinds';
import { use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
jest.setTimeout(120_000);

const killed = (kinds: readonly Kind[], frozen = false) => killedDriver(machine, kinds, { frozen });
const kubelet = machine.folder('kubelet');

async function reap(dataDir: string, ...words: string[]): Promise<{ code: number | null; report: Report }> {
  const all = ['reap', '--json', '--data-dir', dataDir, '--kubelet-dir', kubelet, ...words];
  const { code, out, err } = await runCli(all);
  expect(err).toBe('');
  return { code, report: JSON.parse(out) as Report };
}

const mountsOf = async ({ volumes }: Left) => {
  const places = volumes.flatMap(({ staging, target }) => [staging, target]);
  return (await machine.host.mounts.list()).filter(({ mountPoint }) => places.includes(mountPoint));
};
const actions = ({ steps }: Report) => steps.map(({ action }) => action);
const problems = ({ steps }: Report) => steps.flatMap(({ problem }) => problem ?? []);
const disksIn = (dataDir: string) =>
  fs.readdirSync(path.join(dataDir, 'volumes'), { recursive: true, encoding: 'utf8' });

/** A loop device of somebody else, mounted; what takes it down again. */
async function foreign(file: string): Promise<{ index: number; place: string; end(): Promise<void> }> {
  await machine.host.disks.ensureSize(file, 16n << 20n);
  await machine.host.filesystems.format(file, 'ext4');
  const device = await machine.host.loops.attach(file, { readOnly: false, autoclear: false });
  await device.release();
  const place = machine.folder('foreign');
  machine.run('mount', device.path, place);
  return {
    index: device.index,
    place,
    end: async () => {
      machine.run('umount', place);
      await machine.host.loops.detach(device.index);
    },
  };
}

describe('after a driver was killed', () => {
  it('tells first, then takes every kind of volume, keeps the bytes, and finds nothing afterwards', async () => {
    const left = await killed(ALL_KINDS);
    const { dataDir } = left;
    const other = await foreign(path.join(machine.folder('other'), 'disk.img'));
    const before = { table: await machine.table(), loops: machine.loops(), files: disksIn(dataDir) };

    const told = await reap(dataDir);
    expect(told).toMatchObject({ code: 1, report: { dryRun: true, refused: [] } });
    expect(told.report.steps.every(({ done, problem }) => !done && problem === undefined)).toBe(true);
    expect({ table: await machine.table(), loops: machine.loops(), files: disksIn(dataDir) }).toEqual(before);

    const { code, report } = await reap(dataDir, '--yes');
    expect({ code, problems: problems(report) }).toEqual({ code: 0, problems: [] });
    const order = ['thaw', 'unmount', 'detach', 'remove'];
    const ranks = actions(report).map((action) => order.indexOf(action));
    expect(ranks).toEqual([...ranks].sort());
    expect(report.steps.map(({ what }) => what).sort()).toEqual(
      told.report.steps.map(({ what }) => what).sort(),
    );
    expect(await mountsOf(left)).toEqual([]);
    expect(machine.loops(dataDir)).toEqual([]);
    expect(disksIn(dataDir)).toEqual(before.files);

    // Beside it, nothing was touched.
    expect(machine.loops().map(({ index }) => index)).toEqual([other.index]);
    expect(await machine.mountsAt(other.place)).toHaveLength(1);
    expect(await reap(dataDir)).toMatchObject({ code: 0, report: { steps: [], refused: [] } });
    await other.end();

    // And a driver goes on with what was kept.
    const driver = await machine.start({ dataDir });
    const [ext4] = left.volumes;
    if (!ext4) throw new Error('no volume');
    await driver.csi.NodeStageVolume({
      volume_id: ext4.id,
      publish_context: ext4.publishContext,
      staging_target_path: ext4.staging,
      volume_capability: ext4.capability,
    });
    expect(await readMark(KINDS.ext4, { ...ext4, target: ext4.staging })).toBe('kept');
    await driver.csi.NodeUnstageVolume({ volume_id: ext4.id, staging_target_path: ext4.staging });
    await driver.stop();
  });

  it('with --delete-data leaves no volume either', async () => {
    const { dataDir } = await killed([KINDS.ext4, KINDS.tmpfs]);
    expect(await reap(dataDir, '--yes', '--delete-data')).toMatchObject({ code: 0 });
    for (const name of ['volumes', 'snapshots', 'nodes', 'undo'])
      expect([name, fs.existsSync(path.join(dataDir, name))]).toEqual([name, false]);
    expect(fs.existsSync(path.join(dataDir, 'journal'))).toBe(true);
  });

  it('needs no record that can be read', async () => {
    const left = await killed([KINDS.ext4, KINDS.tmpfs, KINDS.directory]);
    for (const name of fs.readdirSync(left.dataDir, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.json')) fs.writeFileSync(path.join(left.dataDir, name), '{');
    const { code, report } = await reap(left.dataDir, '--yes');
    expect({ code, problems: problems(report) }).toEqual({ code: 0, problems: [] });
    expect(await mountsOf(left)).toEqual([]);
    expect(machine.loops(left.dataDir)).toEqual([]);
  });

  it('knows loop devices and mounts of a folder that somebody removed', async () => {
    const left = await killed([KINDS.ext4, KINDS.block]);
    fs.rmSync(left.dataDir, { recursive: true });
    const { code, report } = await reap(left.dataDir, '--yes');
    expect({ code, problems: problems(report) }).toEqual({ code: 0, problems: [] });
    expect(await mountsOf(left)).toEqual([]);
    expect(machine.loops(left.dataDir)).toEqual([]);
  });

  it.each([
    ['by what was noted', (_dataDir: string) => undefined],
    [
      'though the note is broken',
      (dataDir: string) => {
        for (const name of fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
          if (path.basename(name).startsWith('freeze-')) fs.writeFileSync(path.join(dataDir, name), '{');
      },
    ],
  ])('thaws a frozen filesystem %s', async (_how, spoil) => {
    const left = await killed([KINDS.ext4], true);
    spoil(left.dataDir);
    const { code, report } = await reap(left.dataDir, '--yes');
    expect({ code, problems: problems(report) }).toEqual({ code: 0, problems: [] });
    expect(actions(report).filter((action) => action === 'thaw')).toHaveLength(1);
    expect(machine.loops(left.dataDir)).toEqual([]);
  });

  it('thaws one that is frozen and mounted nowhere, with a broken note', async () => {
    const left = await killed([KINDS.ext4], true);
    for (const name of fs.readdirSync(left.dataDir, { recursive: true, encoding: 'utf8' }))
      if (path.basename(name).startsWith('freeze-')) fs.writeFileSync(path.join(left.dataDir, name), '{');
    for (const { mountPoint } of (await mountsOf(left)).reverse()) machine.run('umount', '-l', mountPoint);
    const { code, report } = await reap(left.dataDir, '--yes');
    expect({ code, problems: problems(report) }).toEqual({ code: 0, problems: [] });
    expect(machine.loops(left.dataDir)).toEqual([]);
  });

  it('goes from the deepest up: one volume mounted in another, and over itself', async () => {
    const left = await killed([KINDS.ext4]);
    const [used] = left.volumes;
    if (!used) throw new Error('no volume');
    fs.mkdirSync(path.join(used.target, 'inner'));
    machine.run('mount', '--bind', used.staging, path.join(used.target, 'inner'));
    machine.run('mount', '--bind', used.staging, used.target);
    const { code, report } = await reap(left.dataDir, '--yes');
    expect({ code, problems: problems(report) }).toEqual({ code: 0, problems: [] });
    expect(await mountsOf(left)).toEqual([]);
  });
});

describe('what it does not take', () => {
  it('is a mount of somebody else, with what it is on, and it says what to do', async () => {
    const left = await killed([KINDS.ext4, KINDS.tmpfs]);
    const [used] = left.volumes;
    if (!used) throw new Error('no volume');
    const inner = path.join(used.target, 'inner');
    fs.mkdirSync(inner);
    machine.run('mount', '-t', 'tmpfs', 'theirs', inner);
    const { code, report } = await reap(left.dataDir, '--yes', '--delete-data');
    expect(code).toBe(1);
    expect(await machine.mountsAt(inner)).toHaveLength(1);
    expect(problems(report)).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`${inner} (theirs) is mounted over it; \`umount ${inner}\` first`),
        expect.stringContaining('it is still mounted at'),
        expect.stringContaining('not while something of the folder is in use'),
      ]),
    );
    expect(disksIn(left.dataDir).some((name) => name.endsWith('disk.img'))).toBe(true);
    // The other volume is gone all the same.
    expect((await mountsOf(left)).filter(({ fsType }) => fsType === 'tmpfs')).toEqual([]);
    machine.run('umount', inner);
    expect(await reap(left.dataDir, '--yes', '--delete-data')).toMatchObject({ code: 0 });
  });

  it('is what a process uses', async () => {
    const left = await killed([KINDS.ext4]);
    const [used] = left.volumes;
    if (!used) throw new Error('no volume');
    const fd = fs.openSync(path.join(used.target, 'held'), 'w');
    const busy = await reap(left.dataDir, '--yes');
    fs.closeSync(fd);
    expect(busy.code).toBe(1);
    expect(problems(busy.report)).toEqual(
      expect.arrayContaining([expect.stringContaining(`a process uses it; \`fuser -vm ${used.target}\``)]),
    );
    expect(await reap(left.dataDir, '--yes')).toMatchObject({ code: 0 });
  });

  it('is anything of a driver that lives, nor of one beside it', async () => {
    const dead = await killed([KINDS.ext4, KINDS.tmpfs]);
    const dataDir = path.join(machine.folder('d'), 'data');
    const driver = await machine.start({ dataDir });
    const volumes = [await use(driver, KINDS.ext4.options()), await use(driver, KINDS.tmpfs.options())];
    const living = { dataDir, volumes };
    const before = await mountsOf(living);
    const refused = await reap(dataDir, '--yes', '--delete-data');
    expect(refused).toMatchObject({ code: 1, report: { steps: [] } });
    expect(refused.report.refused).toEqual([
      { dataDir, why: expect.stringMatching(/a driver is alive on it \(it holds .*\.lock\); stop it first/) },
    ]);
    expect(await reap(dead.dataDir, '--yes')).toMatchObject({ code: 0 });
    expect(await mountsOf(living)).toEqual(before);
    expect(machine.loops(dataDir)).toHaveLength(1);
    await driver.stop();
    expect(await reap(dataDir, '--yes')).toMatchObject({ code: 0 });
  });

  it('is a folder that is no data folder', async () => {
    const dataDir = machine.folder('not-ours');
    fs.mkdirSync(path.join(dataDir, 'volumes'));
    const { code, report } = await reap(dataDir, '--yes', '--delete-data');
    expect(code).toBe(1);
    expect(report.refused[0]?.why).toContain('expected the data folder of a driver');
    expect(fs.existsSync(path.join(dataDir, 'volumes'))).toBe(true);
  });
});

it('removes registration sockets that nobody listens on, and no other', async () => {
  const { dataDir } = await killed([]);
  const registry = path.join(kubelet, 'plugins_registry');
  fs.mkdirSync(registry);
  const at = (name: string) => path.join(registry, name);
  const listen = (file: string) =>
    new Promise<net.Server>((resolve) => {
      const server = net.createServer().listen(file, () => resolve(server));
    });
  const close = (server: net.Server) => new Promise((resolve) => server.close(resolve));
  // Closing removes the name that a socket was bound under.
  const dead = async (name: string) => {
    const server = await listen(at('bound'));
    fs.renameSync(at('bound'), at(name));
    await close(server);
  };
  await dead('fake.csi.test-reg.sock');
  await dead('other.csi.test-reg.sock');
  const alive = await listen(at('fake.csi.test-reg2.sock'));
  const { code, report } = await reap(dataDir, '--yes');
  expect({ code, done: report.steps.map(({ what }) => path.basename(what)) }).toEqual({
    code: 0,
    done: ['fake.csi.test-reg.sock'],
  });
  expect(fs.readdirSync(registry).sort()).toEqual(['fake.csi.test-reg2.sock', 'other.csi.test-reg.sock']);
  await close(alive);
});

it('says that it needs root', () => {
  const hook = path.join(__dirname, '../../support/typescript-hook.cjs');
  const command = path.join(__dirname, '../../../src/cli/commands/reap.ts');
  // After it is compiled: nobody may write what is compiled.
  const code = `
    const { reap } = require(${JSON.stringify(command)});
    process.setgid(65534); process.setuid(65534);
    reap.run({ dataDir: [], yes: false, dryRun: false }).then(() => console.log('done'), (error) => console.log(error.message));`;
  expect(machine.run(process.execPath, '-r', hook, '-e', code)).toMatch(
    /^reap: expected root.* found user 65534; run it with sudo/,
  );
});
