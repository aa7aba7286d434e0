import * as fs from 'node:fs/promises';
import { diskSize } from '../../backends/disk-size';
import { FS_TYPES } from '../../host/host';
import type { DiskCondition } from '../../scenarios/model';
import { NotApplied } from './not-applied';
import { refuseRaw, wanted } from './on-disk';
import { inPlace, leave } from './place';
import { writeSwap } from './swap-image';
import type { DiskTarget, PreparedDisk } from './target';
import { writeVfat } from './vfat-image';

export type ForeignType = Extract<DiskCondition, { kind: 'foreignFs' }>['fsType'];

/** Bytes of the smallest image that each of them can be made on and told by. */
const SMALLEST_FOREIGN = 64n << 20n;

/** The device shows a whole filesystem of another type than the one that is asked for. The volume's own disk is not touched. */
export async function foreignFs(target: DiskTarget, fsType: ForeignType): Promise<PreparedDisk> {
  refuseRaw(target);
  const { host, volume, at, effect } = target;
  const mountAs = wanted(target, await host.filesystems.probe(at.disk));
  if (mountAs === fsType)
    throw new NotApplied(`the stage asks for ${fsType}, to which a disk with ${fsType} is not foreign`);
  return inPlace('foreignFs', target, async (place) => {
    const known = FS_TYPES.find((type) => type === fsType);
    const minimum = known ? host.filesystems.minimumBytes(known) : SMALLEST_FOREIGN;
    const wished = diskSize(BigInt(volume.capacityBytes));
    const size = wished < minimum ? diskSize(minimum) : wished;
    await host.disks.ensureSize(place.image, size);
    if (known) await host.filesystems.format(place.image, known);
    else await writeImage(place.image, fsType === 'swap' ? writeSwap : writeVfat, size);
    effect(`the disk holds ${fsType}${size > wished ? ` (on ${size} bytes, the least it takes)` : ''}`);
    return { device: { disk: place.image, mountAs }, undo: () => leave(target, place) };
  });
}

async function writeImage(
  file: string,
  write: (file: fs.FileHandle, size: bigint) => Promise<void>,
  size: bigint,
): Promise<void> {
  const handle = await fs.open(file, 'r+');
  try {
    await write(handle, size);
  } finally {
    await handle.close();
  }
}
