import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { keyOf } from '../../../src/util/keys';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import {
  blockCapability,
  createVolume,
  dispose,
  mountCapability,
  publish,
  release,
  stage,
  type UsedVolume,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const attempt = (kind: Kind, used: UsedVolume) =>
  writeMark(kind, used, 'written').then(
    () => 'written',
    (error) => error.code,
  );

/** A volume that holds something and is not staged. */
async function filled(kind: Kind): Promise<string> {
  const used = await use(driver, kind.options());
  await writeMark(kind, used, 'first');
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  await driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
  return used.id;
}

const fsTypeOf = (kind: Kind) => kind.options().capability?.mount?.fs_type ?? '';
const readerOf = (kind: Kind) =>
  kind.block
    ? blockCapability('MULTI_NODE_READER_ONLY')
    : mountCapability({ fsType: fsTypeOf(kind), mode: 'MULTI_NODE_READER_ONLY' });

describe.each(ALL_KINDS)('a $name volume', (kind) => {
  it('published read-only is that for its pod alone', async () => {
    const used = await use(driver, { ...kind.options('SINGLE_NODE_MULTI_WRITER') });
    await writeMark(kind, used, 'first');
    const reader = { ...used, target: await driver.target(`${used.id}-reader`) };
    await publish(driver, reader, true);
    await publish(driver, reader, true);
    const [mount] = await machine.mountsAt(reader.target);
    expect(mount?.options).toContain('ro');
    if (!kind.block) expect(await attempt(kind, reader)).toBe('EROFS');
    expect(await readMark(kind, reader)).toBe('first');
    expect(await attempt(kind, used)).toBe('written');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: reader.target });
    await dispose(driver, used);
  });

  it('of a reader-only mode cannot be written anywhere', async () => {
    const id = await filled(kind);
    const used = await stage(driver, id, { capability: readerOf(kind) });
    await publish(driver, used);
    await publish(driver, used);
    expect(await readMark(kind, used)).toBe('first');
    expect(await attempt(kind, used)).toMatch(/^E(ROFS|ACCES|PERM)$/);
    if (!kind.block) {
      expect((await machine.mountsAt(used.staging))[0]?.options).toContain('ro');
      await expect(fs.writeFile(path.join(used.staging, 'x'), '')).rejects.toThrow('EROFS');
    }
    await dispose(driver, used);
  });

  it('attached read-only cannot be written, and can be when it is attached for writing again', async () => {
    const id = await filled(kind);
    const capability = kind.options().capability ?? {};
    const { node_id } = await driver.csi.NodeGetInfo();
    const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: capability,
      readonly: true,
    });
    const used = {
      id,
      staging: await driver.folder(`${id}-staging`),
      target: await driver.target(id),
      publishContext,
      capability,
    };
    await driver.csi.NodeStageVolume({
      volume_id: id,
      publish_context: publishContext,
      staging_target_path: used.staging,
      volume_capability: capability,
    });
    await publish(driver, used);
    expect(await readMark(kind, used)).toBe('first');
    expect(await attempt(kind, used)).toMatch(/^E(ROFS|ACCES|PERM)$/);
    if (kind.loop) {
      const [loop] = machine.loops(driver.dataDir);
      expect(await fs.readFile(`/sys/block/loop${loop?.index}/ro`, 'utf8')).toBe('1\n');
    }
    await driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    const writable = await stage(driver, id, { capability });
    await publish(driver, writable);
    expect(await attempt(kind, writable)).toBe('written');
    await dispose(driver, writable);
  });
});

describe.each(ALL_KINDS.filter((kind) => !kind.block))('a $name volume with the mount option ro', (kind) => {
  it('is read-only, healthy, and the same when it is asked for again', async () => {
    const id = await filled(kind);
    const capability = mountCapability({
      fsType: fsTypeOf(kind),
      mode: 'SINGLE_NODE_MULTI_WRITER',
      mountFlags: ['ro'],
    });
    const used = await stage(driver, id, { capability });
    await publish(driver, used);
    const table = await machine.table();
    await driver.csi.NodeStageVolume({
      volume_id: id,
      publish_context: used.publishContext,
      staging_target_path: used.staging,
      volume_capability: capability,
    });
    await publish(driver, used);
    expect(await machine.table()).toBe(table);
    expect(await attempt(kind, used)).toBe('EROFS');
    const stats = await driver.csi.NodeGetVolumeStats({ volume_id: id, volume_path: used.target });
    expect(stats.volume_condition).toMatchObject({ abnormal: false });
    await dispose(driver, used);
  });
});

describe.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])(
  'a $name volume that was not unmounted cleanly',
  (kind) => {
    /** As after a node that died: what was synced is in the journal only. */
    async function unclean(): Promise<string> {
      const used = await use(driver, kind.options());
      const disk = path.join(driver.dataDir, 'volumes', keyOf(used.id), 'disk.img');
      await writeMark(kind, used, 'in the journal');
      const copy = path.join(machine.folder('copy'), 'disk');
      machine.run('cp', '--sparse=always', disk, copy);
      await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
      await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
      await driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
      machine.run('cp', '--sparse=always', copy, disk);
      await fs.rm(copy);
      return used.id;
    }

    it('can be read by a reader all the same', async () => {
      const id = await unclean();
      const used = await stage(driver, id, { capability: readerOf(kind) });
      await publish(driver, used);
      expect(await readMark(kind, used)).toBe('in the journal');
      expect(await attempt(kind, used)).toBe('EROFS');
      await dispose(driver, used);
    });
  },
);

describe.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])('a snapshot of a mounted $name volume', (kind) => {
  it('can be restored for readers only', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'snapshot me');
    const { snapshot } = await driver.csi.CreateSnapshot({
      source_volume_id: used.id,
      name: `of-${used.id}`,
    });
    const snapshotId = snapshot?.snapshot_id ?? '';
    const id = await createVolume(driver, {
      ...kind.options(),
      capability: readerOf(kind),
      source: { snapshot: { snapshot_id: snapshotId } },
    });
    const restored = await stage(driver, id, { capability: readerOf(kind) });
    await publish(driver, restored);
    expect(await readMark(kind, restored)).toBe('snapshot me');
    await dispose(driver, restored);
    await dispose(driver, used);
    await driver.csi.DeleteSnapshot({ snapshot_id: snapshotId });
  });
});

it('what was mounted writable is not published under a name that says read-only, and the reverse', async () => {
  const used = await stage(
    driver,
    await createVolume(driver, KINDS.ext4.options('SINGLE_NODE_MULTI_WRITER')),
    KINDS.ext4.options('SINGLE_NODE_MULTI_WRITER'),
  );
  await publish(driver, used, true);
  await expect(publish(driver, used, false)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await release(driver, used);
});

describe('a raw device', () => {
  const kind = KINDS.block;

  it('that is published read-only cannot be written, and can be when it is published for writing', async () => {
    const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
    await publish(driver, used, true);
    await publish(driver, used, true);
    expect(await attempt(kind, used)).toMatch(/^E(ROFS|ACCES|PERM)$/);
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await publish(driver, used);
    expect(await attempt(kind, used)).toBe('written');
    await dispose(driver, used);
  });

  it('can be written as long as one of its targets is for writing', async () => {
    const used = await use(driver, kind.options('SINGLE_NODE_MULTI_WRITER'));
    const reader = { ...used, target: await driver.target(`${used.id}-reader`) };
    await publish(driver, reader, true);
    expect(await attempt(kind, used)).toBe('written');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    expect(await attempt(kind, reader)).toMatch(/^E(ROFS|ACCES|PERM)$/);
    await publish(driver, used);
    expect(await attempt(kind, used)).toBe('written');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: reader.target });
    await dispose(driver, used);
  });
});
