/** Byte table of CRC-32C (Castagnoli), reflected polynomial 0x82f63b78: the checksum of ext4, xfs and btrfs. */
const TABLE: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/**
 * CRC-32C register after `bytes`, from `seed`, without the final complement: ext4 stores it so. xfs and btrfs store
 * its complement (`~crc32c(~0, bytes)`).
 */
export function crc32c(seed: number, bytes: Uint8Array): number {
  let crc = seed >>> 0;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return crc >>> 0;
}
