import * as fs from 'node:fs/promises';
import type { FsType, Host } from '../host/host';
import { removeFile } from '../util/files';
import type { BytesAt } from './backend';
import { diskSize } from './disk-size';

/**
 * Formats a copy of a blank disk and renames it into place, so that a disk holds a whole filesystem or none: an mkfs that
 * was killed half-way may already have written its magic.
 * @param made runs when the copy is complete and not yet in place
 */
export async function formatDisk(
  host: Host,
  at: Pick<BytesAt, 'disk'>,
  capacity: bigint,
  fsType: FsType,
  made: () => Promise<void> = async () => undefined,
): Promise<void> {
  const fresh = `${at.disk}.formatting`;
  try {
    removeFile(fresh);
    await host.disks.ensureSize(fresh, diskSize(capacity));
    await host.filesystems.format(fresh, fsType);
    await made();
    await fs.rename(fresh, at.disk);
  } catch (error) {
    removeFile(fresh);
    throw error;
  }
}
