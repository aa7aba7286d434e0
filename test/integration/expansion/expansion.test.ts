import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { HostError } from '../../../src/host/host';
import { splitDevice } from '../../../src/util/device';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  release,
  stage,
  type UsedVolume,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const gate = new TestGate();
let driver: TestDriver;
let growsMountedExt4: boolean;
beforeAll(async () => {
  driver = await machine.start({ faults: gate });
  growsMountedExt4 = (await machine.host.abilities()).growMountedExt4 === true;
});
afterEach(() => gate.clear());

const growController = (id: string, bytes: number) =>
  driver.csi.ControllerExpandVolume({ volume_id: id, capacity_range: { required_bytes: `${bytes}` } });
const growNode = (id: string, at: string, bytes?: number) =>
  driver.csi.NodeExpandVolume({
    volume_id: id,
    volume_path: at,
    ...(bytes !== undefined && { capacity_range: { required_bytes: `${bytes}` } }),
  });

/** Bytes that a pod sees at a path. */
async function sizeAt(kind: Kind, at: string): Promise<number> {
  if (kind.block) {
    const { minor } = splitDevice((await fs.stat(at, { bigint: true })).rdev);
    return Number(await fs.readFile(`/sys/block/loop${minor}/size`, 'utf8')) * 512;
  }
  return Number((await machine.host.mounts.usage(at)).bytes.total);
}

/** Filesystems keep some for themselves; raw devices and tmpfs give all. */
const atLeast = (kind: Kind, bytes: number) => (kind.loop && !kind.block ? bytes * 0.8 : bytes);
/** A btrfs cannot be resized to less than 256 MiB. */
const larger = (kind: Kind) => (kind.name === 'btrfs' ? 320 : kind.name === 'xfs' ? 400 : 96) * MIB;
const sized = ALL_KINDS.filter((kind) => kind.name !== 'directory');
const online = sized.filter((kind) => kind.name !== 'ext4');

const unstage = (used: UsedVolume) =>
  driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });

describe.each(online)('a published $name volume', (kind) => {
  it('grows under its pod, once, however often that is asked for', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'kept');
    const table = await machine.table();
    const grown = await growController(used.id, larger(kind));
    expect(grown).toEqual({ capacity_bytes: `${larger(kind)}`, node_expansion_required: true });
    for (let round = 0; round < 3; round++) {
      expect(await growNode(used.id, used.target, larger(kind))).toEqual({
        capacity_bytes: `${larger(kind)}`,
      });
      expect(await sizeAt(kind, used.target)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
    }
    expect(await readMark(kind, used)).toBe('kept');
    if (kind.name !== 'tmpfs') expect(await machine.table()).toBe(table);
    await dispose(driver, used);
  });
});

describe.each(sized)('a $name volume', (kind) => {
  it('that was expanded while it was not staged has its new size when it is', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'kept');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await unstage(used);
    await growController(used.id, larger(kind));
    const again = await stage(driver, used.id, { capability: used.capability });
    await publish(driver, again);
    expect(await sizeAt(kind, again.target)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
    expect(await readMark(kind, again)).toBe('kept');
    await dispose(driver, again);
  });

  it('cloned to a larger size is that large', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'cloned');
    const id = await createVolume(driver, {
      ...kind.options(),
      size: larger(kind),
      source: { volume: { volume_id: used.id } },
    });
    const clone = await stage(driver, id, kind.options());
    await publish(driver, clone);
    expect(await sizeAt(kind, clone.target)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
    expect(await readMark(kind, clone)).toBe('cloned');
    await dispose(driver, clone);
    await dispose(driver, used);
  });
});

describe('an ext4 that this process may not grow while it is mounted', () => {
  const kind = KINDS.ext4;
  /** As where CAP_SYS_RESOURCE is missing; on a machine that lacks it, the kernel says so by itself. */
  const refusing = () => ({
    ...machine.host,
    abilities: async () => ({ ...(await machine.host.abilities()), growMountedExt4: 'no CAP_SYS_RESOURCE' }),
    filesystems: {
      ...machine.host.filesystems,
      growMounted: async (mountPoint: string, fsType: 'ext4' | 'xfs' | 'btrfs') => {
        if (fsType === 'ext4') throw new HostError('EPERM', 'EXT4_IOC_RESIZE_FS', `${mountPoint}: EPERM`);
        await machine.host.filesystems.growMounted(mountPoint, fsType);
      },
    },
  });

  it('grows offline while it is staged and no pod has it, with its mount options', async () => {
    const own = await machine.start({ host: refusing() });
    const capability = mountCapability({ fsType: 'ext4', mountFlags: ['noatime', 'data=journal'] });
    const used = await stage(own, await createVolume(own, { ...kind.options(), capability }), { capability });
    await fs.writeFile(path.join(used.staging, 'file'), 'kept');
    await own.csi.ControllerExpandVolume({
      volume_id: used.id,
      capacity_range: { required_bytes: `${larger(kind)}` },
    });
    await own.csi.NodeExpandVolume({ volume_id: used.id, volume_path: used.staging });
    expect(await sizeAt(kind, used.staging)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
    const [mount] = await machine.mountsAt(used.staging);
    expect(mount?.options).toContain('noatime');
    expect(mount?.superOptions).toContain('data=journal');
    await publish(own, used);
    expect(await fs.readFile(path.join(used.target, 'file'), 'utf8')).toBe('kept');
    expect(machine.loops(own.dataDir)).toHaveLength(1);
    await dispose(own, used);
    expect(machine.loops(own.dataDir)).toEqual([]);
  });

  it('says what is missing while a pod has it, and is as large as asked for after that', async () => {
    const own = await machine.start({ host: refusing() });
    const used = await use(own, kind.options());
    await writeMark(kind, used, 'kept');
    const table = await machine.table();
    await own.csi.ControllerExpandVolume({
      volume_id: used.id,
      capacity_range: { required_bytes: `${larger(kind)}` },
    });
    const growing = () => own.csi.NodeExpandVolume({ volume_id: used.id, volume_path: used.target });
    await expect(growing()).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: expect.stringContaining('CAP_SYS_RESOURCE'),
    });
    expect(await machine.table()).toBe(table);
    expect(await readMark(kind, used)).toBe('kept');
    await own.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await own.csi.NodeExpandVolume({ volume_id: used.id, volume_path: used.staging });
    await publish(own, used);
    await growing().catch((error) => error);
    expect(await sizeAt(kind, used.target)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
    expect(await readMark(kind, used)).toBe('kept');
    await dispose(own, used);
  });
});

it('an ext4 of a pod grows where the process may, and says so where it may not', async () => {
  const used = await use(driver, KINDS.ext4.options());
  await growController(used.id, larger(KINDS.ext4));
  const outcome = await growNode(used.id, used.target).then(
    () => 'grown',
    (error) => error.message,
  );
  expect(outcome).toMatch(growsMountedExt4 ? /^grown$/ : /CAP_SYS_RESOURCE/);
  await dispose(driver, used);
});

it('a filesystem that cannot be grown can still be staged and published, and NodeExpandVolume says why', async () => {
  const broken = { now: false };
  const why = (): never => {
    throw new HostError('TOOL', 'e2fsck', 'e2fsck exited with 4: UNEXPECTED INCONSISTENCY');
  };
  const { filesystems } = machine.host;
  const own = await machine.start({
    host: {
      ...machine.host,
      filesystems: {
        ...filesystems,
        growMounted: async (at, fsType) => (broken.now ? why() : filesystems.growMounted(at, fsType)),
        growOffline: async (file, fsType) => (broken.now ? why() : filesystems.growOffline(file, fsType)),
      },
    },
  });
  for (const kind of [KINDS.ext4, KINDS.xfs]) {
    broken.now = false;
    const id = await createVolume(own, kind.options());
    const used = await stage(own, id, kind.options());
    await own.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    await own.csi.ControllerExpandVolume({
      volume_id: id,
      capacity_range: { required_bytes: `${larger(kind)}` },
    });
    broken.now = true;
    const again = await stage(own, id, kind.options());
    await publish(own, again);
    await writeMark(kind, again, 'usable');
    await expect(
      own.csi.NodeExpandVolume({ volume_id: id, volume_path: again.target }),
    ).rejects.toMatchObject({ message: expect.stringContaining('UNEXPECTED INCONSISTENCY') });
    expect(await readMark(kind, again)).toBe('usable');
    await dispose(own, again);
  }
});

it.each([
  ['NodeExpandVolume', 'deviceGrown'],
  ['ControllerExpandVolume', 'bytesGrown'],
] as const)('a growth that fails at %s.%s is finished by the next try', async (method, point) => {
  const kind = KINDS.xfs;
  const used = await use(driver, kind.options());
  gate.failOnce(method, point);
  const all = async () => {
    await growController(used.id, larger(kind));
    await growNode(used.id, used.target);
  };
  await expect(all()).rejects.toMatchObject({ message: expect.stringContaining('injected') });
  await all();
  expect(await sizeAt(kind, used.target)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
  await dispose(driver, used);
});

it('a volume with several targets grows once, whatever path is named', async () => {
  const kind = KINDS.xfs;
  const used = await use(driver, kind.options('SINGLE_NODE_MULTI_WRITER'));
  const second = { ...used, target: await driver.target(`${used.id}-second`) };
  await publish(driver, second);
  await growController(used.id, larger(kind));
  for (const at of [second.target, used.target, used.staging]) await growNode(used.id, at);
  for (const at of [second.target, used.target, used.staging])
    expect(await sizeAt(kind, at)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: second.target });
  await dispose(driver, used);
});

it('a volume is not grown where it is read-only, not published or unmounted', async () => {
  const kind = KINDS.xfs;
  const used = await use(driver, kind.options());
  await expect(growNode(used.id, '/somewhere/else')).rejects.toMatchObject({ code: Code.NOT_FOUND });
  machine.run('umount', used.target);
  machine.run('umount', used.staging);
  await expect(growNode(used.id, used.target)).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
    message: expect.stringContaining('stage it again'),
  });
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await release(driver, used);
});

it('a btrfs is told, by its code too, when it is to grow to a size that none grows to', async () => {
  const kind = KINDS.btrfs;
  const used = await use(driver, kind.options());
  await growController(used.id, kind.size + 8 * MIB);
  await expect(growNode(used.id, used.target)).rejects.toMatchObject({
    code: Code.OUT_OF_RANGE,
    message: expect.stringContaining('256 MiB or more'),
  });
  await growController(used.id, larger(kind));
  await growNode(used.id, used.target);
  expect(await sizeAt(kind, used.target)).toBeGreaterThanOrEqual(atLeast(kind, larger(kind)));
  await dispose(driver, used);
});
