import { Code } from '../../../src/csi/status';
import type { DiskCondition } from '../../../src/scenarios/model';
import { KINDS, type Kind } from '../../support/kinds';
import { MIB } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { Conditions, WRONG_FS } from './conditions';

const machine = useMachine();
let conditions: Conditions;
beforeAll(async () => {
  conditions = await Conditions.start(machine);
});

const { ext4, xfs, btrfs, block } = KINDS;

/** Refused while the condition holds, by the filesystem of the volume, in its words and the kernel's. */
const TAKEN_BACK: [string, DiskCondition, Kind, RegExp, { readOnly?: boolean }?][] = [
  [
    'ext4 on a missing device',
    { kind: 'missing' },
    ext4,
    /mount: \S+: special device \/dev\/\S+ does not exist\./,
  ],
  [
    'xfs on a missing device',
    { kind: 'missing' },
    xfs,
    /mount: \S+: special device \/dev\/\S+ does not exist\./,
  ],
  ['a missing raw device', { kind: 'missing' }, block, /special device \/dev\/\S+ does not exist/],
  ['ext4 where xfs is', { kind: 'foreignFs', fsType: 'xfs' }, ext4, WRONG_FS],
  [
    'xfs where ext4 is',
    { kind: 'foreignFs', fsType: 'ext4' },
    xfs,
    /wrong fs type.*Invalid superblock magic number/,
  ],
  ['btrfs where ext4 is', { kind: 'foreignFs', fsType: 'ext4' }, btrfs, WRONG_FS],
  [
    'ext4 where btrfs is',
    { kind: 'foreignFs', fsType: 'btrfs' },
    ext4,
    /wrong fs type.*VFS: Can't find ext4 filesystem/,
  ],
  [
    'ext4 where vfat is',
    { kind: 'foreignFs', fsType: 'vfat' },
    ext4,
    /wrong fs type.*VFS: Can't find ext4 filesystem/,
  ],
  ['xfs where swap is', { kind: 'foreignFs', fsType: 'swap' }, xfs, WRONG_FS],
  [
    'ext4 with a dirty journal, read-only',
    { kind: 'dirtyLog' },
    ext4,
    /cannot mount \/dev\/loop\d+ read-only\..*write access unavailable/,
    { readOnly: true },
  ],
  [
    'xfs with a dirty journal, read-only',
    { kind: 'dirtyLog' },
    xfs,
    /cannot mount \/dev\/loop\d+ read-only\..*log mount failed/,
    { readOnly: true },
  ],
  // btrfs answers EIO where the others answer EROFS.
  [
    'btrfs with a dirty journal, read-only',
    { kind: 'dirtyLog' },
    btrfs,
    /can't read superblock on \/dev\/loop\d+\..*log replay required on RO media/,
    { readOnly: true },
  ],
  [
    'a second xfs of one UUID',
    { kind: 'duplicateUuid' },
    xfs,
    /wrong fs type.*duplicate UUID \S+ - can't mount/,
  ],
  ...[ext4, xfs, btrfs].map((kind): (typeof TAKEN_BACK)[number] => [
    `${kind.name} on a write-protected device`,
    { kind: 'readOnlyDevice' },
    kind,
    /\/dev\/loop\d+ is write-protected but explicit read-write mode requested\./,
  ]),
];

describe.each(TAKEN_BACK)('%s', (_, condition, kind, words, options) => {
  it('is refused, and is whole again at the next stage', async () => {
    const id = await conditions.used(kind);
    await conditions.refused(condition, id, kind, words, options);
    await conditions.refused(condition, id, kind, words, options);
    expect(await conditions.markOf(id, kind)).toBe('kept');
    await conditions.delete(id);
  });
});

it.each([
  ['missing', ext4],
  ['dirtyLog', btrfs],
  ['duplicateUuid', xfs],
  ['readOnlyDevice', xfs],
] as const)('%s of a volume that was never staged', async (condition, kind) => {
  const id = await conditions.fresh(kind);
  const readOnly = condition === 'dirtyLog';
  expect(await conditions.stageWith({ kind: condition }, id, kind, { readOnly })).toMatchObject({
    code: Code.INTERNAL,
  });
  await conditions.nothingLeft();
  expect(await conditions.markOf(id, kind)).toBeUndefined();
  await conditions.delete(id);
});

/** Refused, and it stays so: the data is gone. */
const STAYS: [string, DiskCondition, Kind, RegExp][] = [
  [
    'ext4 with a corrupt superblock',
    { kind: 'corruptSuperblock' },
    ext4,
    /cannot mount; probably corrupted filesystem on \/dev\/loop\d+\./,
  ],
  [
    'xfs with a corrupt superblock',
    { kind: 'corruptSuperblock' },
    xfs,
    /mount\(2\) system call failed: Structure needs cleaning\./,
  ],
  [
    'btrfs with a corrupt superblock',
    { kind: 'corruptSuperblock' },
    btrfs,
    /wrong fs type.*superblock checksum mismatch/,
  ],
  ['ext4 cut in half', { kind: 'truncated', keep: 0.5 }, ext4, /wrong fs type.*bad geometry: block count/],
  ['xfs cut in half', { kind: 'truncated', keep: 0.5 }, xfs, /can't read superblock on \/dev\/loop\d+\./],
  [
    'btrfs cut in half',
    { kind: 'truncated', keep: 0.5 },
    btrfs,
    /wrong fs type.*device total_bytes should be at most/,
  ],
];

describe.each(STAYS)('%s', (_, condition, kind, words) => {
  it.each([
    ['used', true],
    ['never staged', false],
  ])('is refused, and for good, on a volume that was %s', async (_name, wasUsed) => {
    const id = wasUsed ? await conditions.used(kind) : await conditions.fresh(kind);
    await conditions.refused(condition, id, kind, words);
    // Again, and still corrupt.
    await conditions.refused(condition, id, kind, words);
    const after = await conditions.stageWith(undefined, id, kind);
    expect(after).toMatchObject({
      code: expect.any(Number),
      message: expect.stringMatching(/superblock|geometry|at most/),
    });
    await conditions.nothingLeft();
    await conditions.delete(id);
  });
});

it('a raw device that was cut is data loss', async () => {
  const id = await conditions.used(block);
  expect(await conditions.stageWith({ kind: 'truncated', keep: 0.25 }, id, block)).toMatchObject({
    code: Code.DATA_LOSS,
    message: expect.stringContaining(`has ${4 * MIB} bytes where ${16 * MIB} belong`),
  });
  await conditions.delete(id);
});
