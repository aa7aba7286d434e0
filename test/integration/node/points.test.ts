import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Method } from '../../../src/csi/rpcs';
import { Code, CsiError } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, release, stage, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const gate = new TestGate();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start({ faults: gate });
});
afterEach(() => gate.clear());

/** Everything on the machine and in the data folder that a failed call must leave as it was. */
async function state(used?: UsedVolume): Promise<object> {
  const files = await fs.readdir(driver.dataDir, { recursive: true });
  return {
    table: await machine.table(),
    loops: machine.loops(driver.dataDir),
    files: files.filter((name) => !name.startsWith('journal') && !name.endsWith('.lock')).sort(),
    target:
      used && ((await fs.lstat(used.target).catch(() => 'missing')) === 'missing' ? 'missing' : 'there'),
  };
}

const lost = new CsiError(Code.UNAVAILABLE, 'injected');

/** Every point a call passes, found by making it once undisturbed. */
async function pointsOf(method: Method, call: () => Promise<unknown>): Promise<string[]> {
  gate.clear();
  await call();
  const passed = gate.passed.filter((name) => name.startsWith(`${method}.`));
  return passed.map((name) => name.slice(method.length + 1)).filter((name) => name !== 'before');
}

/** The call fails at each of its points: nothing may be left behind, and the next try must succeed. */
async function failEverywhere(
  method: Method,
  used: UsedVolume,
  points: readonly string[],
  call: () => Promise<unknown>,
  undo: () => Promise<unknown>,
): Promise<void> {
  for (const point of points) {
    const before = await state(used);
    gate.failOnce(method, point, lost);
    await expect(call()).rejects.toMatchObject({ code: Code.UNAVAILABLE, message: 'injected' });
    // An answer that is lost after the work is the one case in which the work stays done.
    if (point !== 'after') expect({ point, ...(await state(used)) }).toEqual({ point, ...before });
    await call();
    await undo();
  }
}

async function fresh(kind: Kind): Promise<UsedVolume> {
  const id = await createVolume(driver, kind.options());
  const used = await stage(driver, id, kind.options());
  await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
  return used;
}

const stageOf = (used: UsedVolume) => () =>
  driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });
const unstageOf = (used: UsedVolume) => () =>
  driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
const unpublishOf = (used: UsedVolume) => () =>
  driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });

describe.each(ALL_KINDS)('a $name volume', (kind) => {
  it('leaves nothing behind wherever its stage fails', async () => {
    const used = await fresh(kind);
    const points = await pointsOf('NodeStageVolume', stageOf(used));
    await unstageOf(used)();
    expect(points).toEqual(
      expect.arrayContaining(
        kind.loop
          ? ['beforeAttach', 'attached', 'noted', 'staged', 'after']
          : ['noted', 'mounted', 'staged', 'after'],
      ),
    );
    await failEverywhere('NodeStageVolume', used, points, stageOf(used), unstageOf(used));
    await release(driver, used);
  });

  it('leaves nothing behind wherever its publish fails', async () => {
    const used = await fresh(kind);
    await stageOf(used)();
    const points = await pointsOf('NodePublishVolume', () => publish(driver, used));
    await unpublishOf(used)();
    expect(points).toEqual(expect.arrayContaining(['beforeMount', 'mounted', 'after']));
    await failEverywhere('NodePublishVolume', used, points, () => publish(driver, used), unpublishOf(used));
    await release(driver, used);
  });

  it('is taken down by the next try wherever its unpublish or unstage fails', async () => {
    const used = await fresh(kind);
    await stageOf(used)();
    await publish(driver, used);
    await writeMark(kind, used, 'kept');
    for (const point of ['beforeUnmount', 'unmounted', 'after']) {
      gate.failOnce('NodeUnpublishVolume', point, lost);
      await expect(unpublishOf(used)()).rejects.toMatchObject({ code: Code.UNAVAILABLE });
      await unpublishOf(used)();
      await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
      await publish(driver, used);
    }
    await unpublishOf(used)();
    for (const point of ['beforeUnmount', 'unmounted', 'after']) {
      gate.failOnce('NodeUnstageVolume', point, lost);
      await expect(unstageOf(used)()).rejects.toMatchObject({ code: Code.UNAVAILABLE });
      await unstageOf(used)();
      expect(machine.loops(driver.dataDir)).toEqual([]);
      await stageOf(used)();
    }
    await publish(driver, used);
    expect(await readMark(kind, used)).toBe('kept');
    await dispose(driver, used);
  });
});

describe.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])('the first stage of a $name volume', (kind) => {
  it.each(['beforeFormat', 'formatted', 'beforeAttach', 'attached', 'noted', 'mounted', 'staged'])(
    'that fails at %s leaves a disk that is blank or whole',
    async (point) => {
      const id = await createVolume(driver, kind.options());
      const { node_id } = await driver.csi.NodeGetInfo();
      await driver.csi.ControllerPublishVolume({
        volume_id: id,
        node_id,
        volume_capability: kind.options().capability ?? null,
      });
      const used = {
        id,
        staging: await driver.folder(`${id}-staging`),
        target: await driver.target(id),
        publishContext: {},
        capability: kind.options().capability ?? {},
      };
      const before = await state(used);
      gate.failOnce('NodeStageVolume', point, lost);
      await expect(stageOf(used)()).rejects.toMatchObject({ message: 'injected' });
      expect(await state(used)).toEqual(before);
      const [volume] = await fs.readdir(path.join(driver.dataDir, 'volumes'));
      const probe = await machine.host.filesystems.probe(
        path.join(driver.dataDir, 'volumes', volume ?? '', 'disk.img'),
      );
      const whole = !['beforeFormat', 'formatted'].includes(point);
      expect(probe).toMatchObject(whole ? { kind: 'filesystem', fsType: kind.name } : { kind: 'blank' });
      await stageOf(used)();
      await release(driver, used);
    },
  );
});

it('an unmount that is refused does not lose the volume', async () => {
  const used = await fresh(KINDS.ext4);
  await stageOf(used)();
  await publish(driver, used);
  const cwd = await fs.open(used.target, 'r');
  await expect(unpublishOf(used)()).rejects.toMatchObject({ code: expect.any(Number) });
  await cwd.close();
  await dispose(driver, used);
});

it('a stage that fails while something already looks into its mount takes the mount away all the same', async () => {
  const used = await fresh(KINDS.ext4);
  let watcher: fs.FileHandle | undefined;
  gate.at('NodeStageVolume', 'mounted', async () => {
    watcher = await fs.open(used.staging, 'r');
    throw lost;
  });
  await expect(stageOf(used)()).rejects.toMatchObject({ message: 'injected' });
  gate.clear();
  expect(await machine.mountsAt(used.staging)).toEqual([]);
  // Whoever held the mount still has its superblock: the next stage has to use that.
  await stageOf(used)();
  expect(machine.loops(driver.dataDir)).toHaveLength(1);
  await watcher?.close();
  await release(driver, used);
  expect(machine.loops(driver.dataDir)).toEqual([]);
});
