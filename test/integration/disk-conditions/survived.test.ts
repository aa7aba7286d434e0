import * as fs from 'node:fs/promises';
import type { CsiError } from '../../../src/csi/status';
import type { DiskCondition } from '../../../src/scenarios/model';
import { KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, publish, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { Conditions } from './conditions';

const machine = useMachine();
let conditions: Conditions;
beforeAll(async () => {
  conditions = await Conditions.start(machine);
});

const { ext4, xfs, btrfs, block, tmpfs, directory } = KINDS;

function inUse(outcome: CsiError | UsedVolume): UsedVolume {
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

/** Stages in spite of the condition; what the pod then finds. */
async function survives(condition: DiskCondition, id: string, kind: Kind): Promise<string | undefined> {
  const used = inUse(await conditions.stageWith(condition, id, kind));
  await publish(conditions.driver, used);
  expect(await fs.readdir(conditions.undoFolder)).toEqual([]);
  const mark = await readMark(kind, used);
  await conditions.end(used);
  await conditions.nothingLeft();
  return mark;
}

/** What is in a published folder, besides what mkfs makes. */
async function namesIn(folder: string): Promise<string[]> {
  return (await fs.readdir(folder)).filter((name) => name !== 'lost+found').sort();
}

describe.each([ext4, xfs, btrfs])('$name with a dirty journal', (kind) => {
  it('is replayed by a writable mount: nothing is lost, nothing is added', async () => {
    const id = await conditions.used(kind);
    const used = inUse(await conditions.stageWith({ kind: 'dirtyLog' }, id, kind));
    expect(conditions.gate.effects).toEqual([`the journal of ${kind.name} is dirty`]);
    await publish(conditions.driver, used);
    expect(await namesIn(used.target)).toEqual(['mark']);
    await conditions.end(used);
    await conditions.nothingLeft();
    expect(await conditions.markOf(id, kind)).toBe('kept');
    await conditions.delete(id);
  });
});

it.each([ext4, btrfs])('$name is mounted beside a clone of the same UUID', async (kind) => {
  const id = await conditions.used(kind);
  expect(await survives({ kind: 'duplicateUuid' }, id, kind)).toBe('kept');
  expect(conditions.gate.effects).toEqual([
    expect.stringContaining('a clone of the disk with the same UUID'),
  ]);
  await conditions.delete(id);
});

it('a restored xfs is mounted without a look at UUIDs, and so survives a clone', async () => {
  const source = await conditions.used(xfs);
  const id = await createVolume(conditions.driver, {
    ...xfs.options(),
    name: 'clone-of-xfs',
    source: { volume: { volume_id: source } },
  });
  expect(await survives({ kind: 'duplicateUuid' }, id, xfs)).toBe('kept');
  await conditions.delete(id);
  await conditions.delete(source);
});

it.each([ext4, xfs, btrfs, block])('a blank $name volume has lost its data and works', async (kind) => {
  const id = await conditions.used(kind);
  expect(await survives({ kind: 'blank' }, id, kind)).toBeUndefined();
  expect(await conditions.markOf(id, kind)).toBeUndefined();
  await conditions.delete(id);
});

it('a read-only mount that leaves the dirty journal alone succeeds, and shows the volume itself', async () => {
  const id = await conditions.used(ext4);
  const outcome = await conditions.stageWith({ kind: 'dirtyLog' }, id, ext4, {
    readOnly: true,
    mountFlags: ['noload'],
  });
  const used = inUse(outcome);
  expect(await fs.readdir(conditions.undoFolder)).toEqual([]);
  await publish(conditions.driver, used, true);
  expect(await readMark(ext4, used)).toBe('kept');
  await conditions.end(used);
  await conditions.nothingLeft();
  await conditions.delete(id);
});

it('a write-protected device serves a read-only stage', async () => {
  const id = await conditions.used(xfs);
  const used = inUse(await conditions.stageWith({ kind: 'readOnlyDevice' }, id, xfs, { readOnly: true }));
  await conditions.end(used);
  await conditions.delete(id);
});

it('a write-protected raw device is staged, and its pod cannot write; the next stage can', async () => {
  const id = await conditions.used(block);
  const used = inUse(await conditions.stageWith({ kind: 'readOnlyDevice' }, id, block));
  await publish(conditions.driver, used);
  await expect(writeMark(block, used, 'lost')).rejects.toMatchObject({
    code: expect.stringMatching(/^(EACCES|EPERM|EROFS)$/),
  });
  await conditions.end(used);
  await conditions.nothingLeft();
  const again = inUse(await conditions.stageWith(undefined, id, block));
  await publish(conditions.driver, again);
  expect(await readMark(block, again)).toBe('kept');
  await writeMark(block, again, 'written');
  await conditions.dispose(again);
});

it.each([
  [tmpfs, { kind: 'missing' }, 'the backend of this volume has no disk'],
  [directory, { kind: 'blank' }, 'the backend of this volume has no disk'],
  [
    ext4,
    { kind: 'foreignFs', fsType: 'ext4' },
    'the stage asks for ext4, to which a disk with ext4 is not foreign',
  ],
  [
    block,
    { kind: 'foreignFs', fsType: 'xfs' },
    'the volume is a raw block device, whose content nothing mounts',
  ],
  [block, { kind: 'dirtyLog' }, 'the volume is a raw block device, whose content nothing mounts'],
  [block, { kind: 'corruptSuperblock' }, 'the disk holds nothing'],
] as [Kind, DiskCondition, string][])('%j: %j is not applied', async (kind, condition, why) => {
  const id = await conditions.fresh(kind);
  await survives(condition, id, kind);
  expect(conditions.gate.effects).toEqual([`disk condition ${condition.kind} was not applied: ${why}`]);
  await conditions.driver.csi.DeleteVolume({ volume_id: id });
});

it('a disk that is in use is never changed', async () => {
  const id = await conditions.used(ext4);
  const first = inUse(await conditions.stageWith(undefined, id, ext4));
  await publish(conditions.driver, first);
  // The stage is gone, the pod is still there: the next stage has to share its superblock.
  machine.run('umount', first.staging);
  for (const kind of ['blank', 'corruptSuperblock', 'dirtyLog', 'duplicateUuid', 'readOnlyDevice'] as const) {
    inUse(await conditions.stageWith({ kind }, id, ext4));
    expect(conditions.gate.effects).toEqual([
      expect.stringMatching(`^disk condition ${kind} was not applied: the disk is in use as /dev/loop`),
    ]);
    machine.run('umount', first.staging);
  }
  inUse(await conditions.stageWith(undefined, id, ext4));
  expect(await readMark(ext4, first)).toBe('kept');
  await conditions.dispose(first);
  await conditions.nothingLeft();
});

it('a volume that never was formatted and is missing everywhere can be deleted', async () => {
  const id = await conditions.fresh(ext4);
  await conditions.refused({ kind: 'missing' }, id, ext4, 'special device');
  await conditions.delete(id);
});
