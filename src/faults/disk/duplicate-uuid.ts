import { formatted, refuseInUse, refuseRaw, soundType } from './on-disk';
import { inPlace, leave } from './place';
import { mountPrivately } from './private-mount';
import type { DiskTarget, PreparedDisk } from './target';

/**
 * A clone of the disk, with the same UUID, is mounted elsewhere on this machine while the volume is staged. What comes of
 * it is up to the filesystem: xfs refuses the second one (unless it is mounted with `nouuid`, as restored volumes are),
 * btrfs does before Linux 6.7, ext4 does not care.
 */
export async function duplicateUuid(target: DiskTarget): Promise<PreparedDisk> {
  refuseRaw(target);
  refuseInUse(target);
  const { host, at, effect } = target;
  const fsType = soundType(await formatted(target));
  return inPlace('duplicateUuid', target, async (place) => {
    await host.disks.copySparse(at.disk, place.image);
    await mountPrivately(host, place.image, fsType, place.mountPoint, false);
    effect(`a clone of the disk with the same UUID is mounted at ${place.mountPoint}`);
    return { undo: () => leave(target, place) };
  });
}
