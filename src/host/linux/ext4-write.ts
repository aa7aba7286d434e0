import type { FileHandle } from 'node:fs/promises';
import { forEachLimited } from '../../util/parallel';
import { writeFully } from '../probe';
import { type Ext4Identity, withIdentity } from './ext4-superblock';
import type { Ext4Template } from './ext4-template';

/** Writes of one file in libuv's pool at once. */
const WRITES_AT_ONCE = 3;

/**
 * Writes a template into a blank file of its size. The superblocks follow all else and the primary is the last write,
 * so that a file whose writer was killed holds nothing that could be mounted.
 */
export async function writeExt4(
  file: FileHandle,
  template: Ext4Template,
  identity: Ext4Identity,
): Promise<void> {
  if (Symbol.asyncIterator in template.pieces) {
    for await (const { bytes, offset } of template.pieces) await writeFully(file, bytes, offset);
  } else {
    await forEachLimited(template.pieces, WRITES_AT_ONCE, ({ bytes, offset }) =>
      writeFully(file, bytes, offset),
    );
  }
  const primary = template.superblocks.length - 1;
  const writeSuperblock = async ({ offset, bytes }: { offset: bigint; bytes: Buffer }) =>
    writeFully(file, withIdentity(bytes, identity), offset);
  await forEachLimited(template.superblocks.slice(0, primary), WRITES_AT_ONCE, writeSuperblock);
  await forEachLimited(template.superblocks.slice(primary), 1, writeSuperblock);
}
