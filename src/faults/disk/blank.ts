import * as fs from 'node:fs/promises';
import { diskSize } from '../../backends/disk-size';
import { refuseInUse } from './on-disk';
import { inPlace, leave } from './place';
import type { DiskTarget, PreparedDisk } from './target';

/** Every byte of the disk is zero: its data is gone, and the stage formats it as it does a new volume's. It stays so. */
export async function blank(target: DiskTarget): Promise<PreparedDisk> {
  refuseInUse(target);
  return inPlace('blank', target, async (place) => {
    const { host, at, volume, effect } = target;
    await host.disks.ensureSize(place.image, diskSize(BigInt(volume.capacityBytes)));
    await fs.rename(place.image, at.disk);
    await leave(target, place);
    effect('the disk is blank: everything on it is gone');
    return {};
  });
}
