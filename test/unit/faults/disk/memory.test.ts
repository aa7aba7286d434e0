import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../../src/csi/status';
import { createMemoryHost } from '../../../../src/host/memory';
import type { DiskCondition } from '../../../../src/scenarios/model';
import { ConditionGate } from '../../../support/condition-gate';
import { TestDriver } from '../../../support/driver';
import {
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  release,
  stage,
} from '../../../support/lifecycle';

const host = createMemoryHost();
let gate: ConditionGate;
let driver: TestDriver;
beforeAll(async () => {
  gate = new ConditionGate();
  driver = await TestDriver.start({ backend: 'memory', host, faults: gate });
});
afterAll(() => driver.close());

const sizes = { ext4: 64 * MIB, xfs: 300 * MIB, btrfs: 128 * MIB };
const optionsOf = (fsType: keyof typeof sizes) => ({
  capability: mountCapability({ fsType }),
  size: sizes[fsType],
  parameters: { backend: 'memory' },
});

/** A volume that was staged before. */
async function used(fsType: keyof typeof sizes): Promise<string> {
  const options = optionsOf(fsType);
  const { id, staging } = await stage(driver, await createVolume(driver, options), options);
  await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
  return id;
}

async function stageWith(condition: DiskCondition, id: string, fsType: keyof typeof sizes) {
  gate.condition = condition;
  gate.effects.length = 0;
  try {
    return await stage(driver, id, optionsOf(fsType));
  } finally {
    gate.condition = undefined;
  }
}

const WRONG_FS =
  /mount: \S+: wrong fs type, bad option, bad superblock on \/dev\/\S+\/loop\d+, missing codepage or helper program, or other error\./;

// The model answers in the words of the kernel that it stands for.
describe.each([
  ['missing', { kind: 'missing' }, 'ext4', /mount: \S+: special device \/dev\/\S+ does not exist\./],
  ['xfs in place of ext4', { kind: 'foreignFs', fsType: 'xfs' }, 'ext4', WRONG_FS],
  ['vfat in place of btrfs', { kind: 'foreignFs', fsType: 'vfat' }, 'btrfs', WRONG_FS],
  ['swap in place of xfs', { kind: 'foreignFs', fsType: 'swap' }, 'xfs', WRONG_FS],
  [
    'write-protected',
    { kind: 'readOnlyDevice' },
    'xfs',
    /is write-protected but explicit read-write mode requested/,
  ],
  ['doubled', { kind: 'duplicateUuid' }, 'xfs', /wrong fs type.*duplicate UUID \S+ - can't mount/],
] as const)('a disk that is %s', (_, condition, fsType, words) => {
  it('is refused, and is whole again at the next stage', async () => {
    const id = await used(fsType);
    await expect(stageWith(condition, id, fsType)).rejects.toMatchObject({
      code: Code.INTERNAL,
      message: expect.stringMatching(words),
    });
    expect(await host.loops.list()).toEqual([]);
    expect(await host.mounts.list()).toEqual([]);
    expect(await fs.readdir(path.join(driver.dataDir, 'nodes/node-1/undo'))).toEqual([]);
    const again = await stage(driver, id, optionsOf(fsType));
    await publish(driver, again);
    await dispose(driver, again);
  });
});

it.each([
  ['ext4', /cannot mount; probably corrupted filesystem on \/dev\/\S+\/loop\d+\./],
  ['xfs', /mount\(2\) system call failed: Structure needs cleaning\./],
  ['btrfs', WRONG_FS],
] as const)('a corrupt superblock of %s is refused, for good', async (fsType, words) => {
  const id = await used(fsType);
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(stageWith({ kind: 'corruptSuperblock' }, id, fsType)).rejects.toMatchObject({
      code: Code.INTERNAL,
      message: expect.stringMatching(words),
    });
  await expect(stage(driver, id, optionsOf(fsType))).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
  });
  await driver.csi.ControllerUnpublishVolume({ volume_id: id });
  await driver.csi.DeleteVolume({ volume_id: id });
});

it('a blank disk is formatted anew', async () => {
  const id = await used('ext4');
  const disk = driver.driver.env.layout.volume(id).disk;
  const before = await host.filesystems.probe(disk);
  const staged = await stageWith({ kind: 'blank' }, id, 'ext4');
  const after = await host.filesystems.probe(disk);
  expect(after).toMatchObject({ kind: 'filesystem', fsType: 'ext4' });
  expect(after).not.toEqual(before);
  await release(driver, staged);
});

it.each([
  [{ kind: 'dirtyLog' }, 'the memory host has no journals'],
  [
    { kind: 'truncated', keep: 0.5 },
    'the memory host keeps the size of a disk beside its bytes and cannot cut it',
  ],
] as const)('%j is not modelled, and the journal says so', async (condition, why) => {
  const id = await used('ext4');
  const staged = await stageWith(condition, id, 'ext4');
  expect(gate.effects).toEqual([`disk condition ${condition.kind} was not applied: ${why}`]);
  await release(driver, staged);
});
