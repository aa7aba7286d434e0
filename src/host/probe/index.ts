import type { ProbeResult } from '../host';
import { larger } from './bigint';
import { BTRFS_SUPERBLOCK_OFFSET, BTRFS_SUPERBLOCK_SIZE, parseBtrfs } from './btrfs';
import type { DiskReader } from './disk-reader';
import { EXT_SUPERBLOCK_OFFSET, EXT_SUPERBLOCK_SIZE, parseExt } from './ext';
import type { Finding } from './finding';
import { foreignSignatures, hasGptBackup, type Signature } from './signatures';
import { parseXfs } from './xfs';
import { isBlank } from './zeros';

export { larger, smaller } from './bigint';
export { type DiskReader, type OpenDisk, openDisk, readError } from './disk-reader';
export { uuidText } from './finding';
export { checkFormattable, checkLabel, MINIMUM_BYTES } from './limits';
export * from './memory-marker';
export { readFully, writeFully } from './positioned';
export { randomUuid } from './random-uuid';
export { isBlank, isZero } from './zeros';

const HEAD_BYTES = BTRFS_SUPERBLOCK_OFFSET + BTRFS_SUPERBLOCK_SIZE;
const TAIL_BYTES = 4096;

/**
 * What a disk holds. One sound superblock makes it that filesystem; a damaged one, a foreign signature, two at
 * once, or bytes nobody knows make it `unknown`, which must never be formatted.
 */
export async function probeDisk(disk: DiskReader): Promise<ProbeResult> {
  if (!(await hasData(disk))) return { kind: 'blank' };
  const recognised = recognise(await disk.read(0n, HEAD_BYTES));
  if (recognised !== null) return recognised;
  const tailAt = larger(disk.sizeBytes - BigInt(TAIL_BYTES), 0n);
  if (hasGptBackup(await disk.read(tailAt, TAIL_BYTES))) {
    return { kind: 'unknown', what: 'the backup of a GPT partition table' };
  }
  return (await isBlank(disk))
    ? { kind: 'blank' }
    : { kind: 'unknown', what: 'data of no filesystem we know' };
}

async function hasData(disk: DiskReader): Promise<boolean> {
  for await (const _ of disk.dataExtents(0n)) return true;
  return false;
}

/** Judges the first 68 KiB of a disk (or all of a shorter one); null when nothing in them is known. */
export function recognise(head: Buffer): ProbeResult | null {
  const ext = parseExt(head.subarray(EXT_SUPERBLOCK_OFFSET, EXT_SUPERBLOCK_OFFSET + EXT_SUPERBLOCK_SIZE));
  const xfs = parseXfs(head);
  const btrfs = parseBtrfs(head.subarray(BTRFS_SUPERBLOCK_OFFSET));
  const sound: Extract<Finding, { kind: 'filesystem' }>[] = [];
  const others: Signature[] = foreignSignatures(head);
  for (const finding of [ext, xfs, btrfs]) {
    if (finding?.kind === 'damaged') others.push({ what: finding.what, leftover: finding === btrfs });
    else if (finding?.kind === 'filesystem') sound.push(finding);
  }
  // mkfs.ext4 and mkfs.xfs need not touch the 65th KiB, and a file of theirs may lie there: the first one decides.
  const [filesystem, second] = sound;
  if (second !== undefined && second.fsType !== 'btrfs') {
    others.push({ what: second.fsType, leftover: false });
  }
  const contradicting = others.filter((other) => filesystem === undefined || !other.leftover);
  if (contradicting.length > 0) {
    const whats = contradicting.map((other) => other.what);
    if (filesystem !== undefined) whats.unshift(filesystem.fsType);
    return { kind: 'unknown', what: [...new Set(whats)].join(' and ') };
  }
  return filesystem ?? null;
}
