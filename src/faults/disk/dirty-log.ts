import * as fs from 'node:fs/promises';
import type { FsType, Host } from '../../host/host';
import { NotApplied } from './not-applied';
import { formatted, refuseInUse, refuseRaw, soundType } from './on-disk';
import { inPlace, leave, type Place } from './place';
import { mountPrivately } from './private-mount';
import type { DiskTarget, PreparedDisk } from './target';

/**
 * The journal holds what the filesystem does not have yet, as after a power loss. A read-only stage shows the kernel such
 * an image, which it refuses; for a writable one the disk itself becomes so, the mount replays it, and nothing is lost.
 */
export async function dirtyLog(target: DiskTarget): Promise<PreparedDisk> {
  refuseRaw(target);
  refuseInUse(target);
  const { host, at, stage, effect } = target;
  if (host.kind === 'memory') throw new NotApplied('the memory host has no journals');
  const fsType = soundType(await formatted(target));
  return inPlace('dirtyLog', target, async (place) => {
    await makeDirty(host, at.disk, fsType, place);
    effect(`the journal of ${fsType} is dirty`);
    if (stage.readOnly)
      return { device: { disk: place.image, mountAs: fsType }, undo: () => leave(target, place) };
    await fs.rename(place.image, at.disk);
    await leave(target, place);
    return {};
  });
}

/**
 * What a disk holds at an instant while its filesystem is mounted is what a power loss then would leave. The change that
 * makes the journal dirty is that of the root folder's times to what they are: it must not be seen in the volume. (The
 * shutdown ioctl does the same for ext4 and xfs, but btrfs of Linux 6.18 does not have it.)
 */
async function makeDirty(host: Host, disk: string, fsType: FsType, place: Place): Promise<void> {
  await host.disks.copySparse(disk, place.copy);
  const unmount = await mountPrivately(host, place.copy, fsType, place.mountPoint, true);
  try {
    const root = await fs.open(place.mountPoint, 'r');
    try {
      const { atime, mtime } = await root.stat();
      await root.utimes(atime, mtime);
      await root.sync();
    } finally {
      await root.close();
    }
    await host.disks.copySparse(place.copy, place.image);
  } finally {
    await unmount();
  }
  await fs.rm(place.copy);
}
