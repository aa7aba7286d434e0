import * as fs from 'node:fs/promises';
import { DISK_GRANULE } from '../../backends/disk-size';
import { NotApplied } from './not-applied';
import { formatted, refuseInUse, wanted } from './on-disk';
import type { DiskTarget, PreparedDisk } from './target';

/**
 * The disk ends early: what lay behind is gone, and stays so.
 * @param keep part of the disk that is left, 0 to 1
 */
export async function truncated(target: DiskTarget, keep: number): Promise<PreparedDisk> {
  refuseInUse(target);
  const { host, at, stage, effect } = target;
  if (host.kind === 'memory')
    throw new NotApplied('the memory host keeps the size of a disk beside its bytes and cannot cut it');
  const raw = stage.accessType === 'block';
  const mountAs = raw ? undefined : wanted(target, await formatted(target));
  const { size } = await fs.stat(at.disk);
  const granule = Number(DISK_GRANULE);
  const left = Math.floor((size * keep) / granule) * granule;
  await fs.truncate(at.disk, left);
  effect(`the disk is truncated: ${left} of ${size} bytes are left`);
  return { device: mountAs === undefined ? {} : { mountAs } };
}
