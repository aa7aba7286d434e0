import { MEMORY_MARKER_OFFSET, parseMemoryMarker } from './memory-marker';

export interface Signature {
  what: string;
  /**
   * Lies where an ext4, xfs or btrfs made later need not overwrite it (a boot sector's last bytes, the end of the
   * first page, the 32nd KiB): beside a sound superblock it is a leftover and says nothing.
   */
  leftover: boolean;
}

const at = (bytes: Buffer, offset: number, text: string) =>
  bytes.length >= offset + text.length && bytes.toString('latin1', offset, offset + text.length) === text;

const SECTOR_SIZES = [512, 1024, 2048, 4096];
const PAGE_SIZES = [4096, 8192, 16384, 32768, 65536];

/**
 * Everything on a disk that is not one of our filesystems and that a person would want named.
 * `head`: its first 68 KiB, or all of a shorter disk.
 */
export function foreignSignatures(head: Buffer): Signature[] {
  const found: Signature[] = [];
  const strong = (what: string) => found.push({ what, leftover: false });
  const weak = (what: string) => found.push({ what, leftover: true });

  if (at(head, 0, 'LUKS\xba\xbe'))
    strong(`a LUKS${head.length >= 8 ? head.readUInt16BE(6) : ''} encrypted disk`);
  if (
    [0, 512, 1024, 1536].some((offset) => at(head, offset, 'LABELONE') && at(head, offset + 24, 'LVM2 001'))
  ) {
    strong('an LVM2 physical volume');
  }
  if (at(head, 0, 'hsqs') || at(head, 0, 'sqsh')) strong('squashfs');
  if (at(head, 3, 'EXFAT   ')) strong('exfat');
  else if (at(head, 3, 'NTFS    ')) strong('ntfs');
  else if (at(head, 82, 'FAT32   ') || at(head, 54, 'FAT12   ') || at(head, 54, 'FAT16   ')) strong('vfat');
  else if (SECTOR_SIZES.some((size) => at(head, size, 'EFI PART'))) strong('a GPT partition table');
  else if (at(head, 510, '\x55\xaa')) weak(hasPartition(head) ? 'an MBR partition table' : 'a boot sector');
  const swap = PAGE_SIZES.some(
    (size) => at(head, size - 10, 'SWAPSPACE2') || at(head, size - 10, 'SWAP-SPACE'),
  );
  if (swap) weak('swap space');
  if (at(head, 32769, 'CD001')) weak('iso9660');
  if (parseMemoryMarker(head.subarray(MEMORY_MARKER_OFFSET)) !== null) {
    strong('a filesystem of the memory host, which no kernel can mount');
  }
  return found;
}

/** Whether `tail`, a disk's last bytes, ends with the second header of a GPT: the first was wiped. */
export function hasGptBackup(tail: Buffer): boolean {
  return SECTOR_SIZES.some((size) => tail.length >= size && at(tail, tail.length - size, 'EFI PART'));
}

/** Four entries of 16 bytes from 446: a status byte that is 0 or 0x80, a type that is not 0. */
function hasPartition(head: Buffer): boolean {
  const entries = [446, 462, 478, 494];
  const sound = entries.every((offset) => head[offset] === 0 || head[offset] === 0x80);
  return sound && entries.some((offset) => head[offset + 4] !== 0);
}
