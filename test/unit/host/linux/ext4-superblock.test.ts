import { superblockOffsets, withIdentity } from '../../../../src/host/linux/ext4-superblock';
import { EXT, parseExt } from '../../../../src/host/probe/ext';
import { extSuperblock, UUID } from '../probe/superblocks';

const SPARSE_SUPER = 1;
const SPARSE_SUPER2 = 0x200;

function geometry(logBlockSize: number, blocks: number, perGroup: number) {
  return (superblock: Buffer) => {
    superblock.writeUInt32LE(logBlockSize, EXT.logBlockSize);
    superblock.writeUInt32LE(blocks, EXT.blocksCountLow);
    superblock.writeUInt32LE(perGroup, EXT.blocksPerGroup);
    superblock.writeUInt32LE(logBlockSize === 0 ? 1 : 0, EXT.firstDataBlock);
  };
}

test('copies of the superblock are in group 1 and the powers of 3, 5 and 7; the primary comes last', () => {
  const superblock = extSuperblock({ roCompat: SPARSE_SUPER }, geometry(2, 32768 * 30, 32768));
  const groups = [1n, 3n, 5n, 7n, 9n, 25n, 27n];
  expect(superblockOffsets(superblock)).toEqual([...groups.map((group) => group * 32768n * 4096n), 1024n]);
});

test('with blocks of 1 KiB every group starts one block later', () => {
  const superblock = extSuperblock({ roCompat: SPARSE_SUPER }, geometry(0, 16384, 8192));
  expect(superblockOffsets(superblock)).toEqual([8193n * 1024n, 1024n]);
});

test('sparse_super2 names its two groups, and without either feature every group has a copy', () => {
  const named = (superblock: Buffer) => {
    geometry(2, 32768 * 4, 32768)(superblock);
    superblock.writeUInt32LE(1, EXT.backupGroups);
    superblock.writeUInt32LE(3, EXT.backupGroups + 4);
  };
  const group = 32768n * 4096n;
  expect(superblockOffsets(extSuperblock({ compat: SPARSE_SUPER2 }, named))).toEqual([
    group,
    3n * group,
    1024n,
  ]);
  expect(superblockOffsets(extSuperblock({}, geometry(2, 32768 * 4, 32768)))).toEqual([
    group,
    2n * group,
    3n * group,
    1024n,
  ]);
});

test('another identity changes UUID, label and checksum, and leaves the original alone', () => {
  const original = extSuperblock({ compat: 4, incompat: 0x40, roCompat: 0x400 });
  const before = Buffer.from(original);
  const copy = withIdentity(original, { uuid: Buffer.alloc(16, 0xab), label: 'data' });
  expect(parseExt(copy)).toMatchObject({ kind: 'filesystem', uuid: 'abababab-abab-abab-abab-abababababab' });
  expect(copy.toString('latin1', EXT.volumeName, EXT.volumeName + 5)).toBe('data\0');
  expect(original).toEqual(before);
  expect(parseExt(original)).toMatchObject({ uuid: UUID });
});
