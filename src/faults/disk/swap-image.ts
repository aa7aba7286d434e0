import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const PAGE = 4096;
/** Fields of the header behind a boot sector's 1,024 bytes (include/linux/swap.h, union swap_header). */
const HEADER = { version: 1024, lastPage: 1028, badPages: 1032, uuid: 1036 } as const;
const MAGIC = 'SWAPSPACE2';

/** Makes swap space of pages of 4 KiB, as mkswap(8) does: a header page, nothing else. */
export async function writeSwap(file: FileHandle, size: bigint): Promise<void> {
  const page = Buffer.alloc(PAGE);
  page.writeUInt32LE(1, HEADER.version);
  // Page numbers have 32 bits: the kernel uses no more of a larger device either.
  const last = size / BigInt(PAGE) - 1n;
  page.writeUInt32LE(Number(last > 0xffff_ffffn ? 0xffff_ffffn : last), HEADER.lastPage);
  page.writeUInt32LE(0, HEADER.badPages);
  randomBytes(16).copy(page, HEADER.uuid);
  page.write(MAGIC, PAGE - MAGIC.length, 'latin1');
  await file.write(page, 0, PAGE, 0);
}
