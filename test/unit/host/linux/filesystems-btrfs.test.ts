import { withFsid } from '../../../../src/host/linux/filesystems-btrfs';
import { BTRFS, parseBtrfs } from '../../../../src/host/probe/btrfs';
import { btrfsSuperblock, UUID } from '../probe/superblocks';

const METADATA_UUID = 0x400n;
const GENERATION = 0x48;
const fresh = Buffer.alloc(16, 0xab);
const hex = (bytes: Buffer, offset: number) => bytes.toString('hex', offset, offset + 16);

test('the first new id keeps the old one for the other blocks, and the generation of the log', () => {
  const original = btrfsSuperblock((bytes) => bytes.writeBigUInt64LE(42n, GENERATION));
  const renewed = withFsid(original, fresh) ?? Buffer.alloc(0);
  expect(parseBtrfs(renewed)).toMatchObject({ uuid: 'abababab-abab-abab-abab-abababababab' });
  expect(hex(renewed, BTRFS.metadataUuid)).toBe(UUID.replaceAll('-', ''));
  expect(renewed.readBigUInt64LE(BTRFS.incompatFlags) & METADATA_UUID).toBe(METADATA_UUID);
  expect(renewed.readBigUInt64LE(GENERATION)).toBe(42n);
  expect(parseBtrfs(original)).toMatchObject({ uuid: UUID });
});

test('a second new id leaves that of the other blocks alone', () => {
  const once = withFsid(btrfsSuperblock(), fresh) ?? Buffer.alloc(0);
  const twice = withFsid(once, Buffer.alloc(16, 0xcd)) ?? Buffer.alloc(0);
  expect(parseBtrfs(twice)).toMatchObject({ uuid: 'cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd' });
  expect(hex(twice, BTRFS.metadataUuid)).toBe(UUID.replaceAll('-', ''));
});

test('a checksum that cannot be computed is no superblock to change', () => {
  expect(
    withFsid(
      btrfsSuperblock((bytes) => bytes.writeUInt16LE(3, BTRFS.sumType)),
      fresh,
    ),
  ).toBeNull();
});
