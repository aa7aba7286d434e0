import { formatDisk } from '../../backends/format-disk';
import { FS_TYPES, type FsType, type ProbeResult } from '../../host/host';
import { NotApplied } from './not-applied';
import type { DiskTarget } from './target';

/** Conditions of a filesystem say nothing of a raw device, whose content is the pod's own. */
export function refuseRaw(target: DiskTarget): void {
  if (target.stage.accessType === 'block')
    throw new NotApplied('the volume is a raw block device, whose content nothing mounts');
}

/** A disk that is mounted already must not be changed below its filesystem, and whoever has it would not notice. */
export function refuseInUse({ stage }: DiskTarget): void {
  if (stage.loop !== undefined) throw new NotApplied(`the disk is in use as /dev/loop${stage.loop}`);
}

/** What the stage would ask the kernel to mount: a copy keeps the filesystem of its source, whatever was asked for. */
export function wanted({ volume, stage }: DiskTarget, found: ProbeResult): FsType {
  const fsType = volume.source && found.kind === 'filesystem' ? found.fsType : stage.fsType;
  const known = FS_TYPES.find((type) => type === fsType);
  if (!known) throw new NotApplied(`${fsType || 'it'} is none of ${FS_TYPES.join(', ')}`);
  return known;
}

/** What is on the disk, after a volume that was never staged has got the filesystem that its first stage would make. */
export async function formatted(target: DiskTarget): Promise<ProbeResult> {
  const { host, at, volume } = target;
  const found = await host.filesystems.probe(at.disk);
  if (found.kind !== 'blank') return found;
  const fsType = wanted(target, found);
  const capacity = BigInt(volume.capacityBytes);
  const minimum = host.filesystems.minimumBytes(fsType);
  if (capacity < minimum)
    throw new NotApplied(`it is blank, and ${capacity} bytes are too few for ${fsType}: it needs ${minimum}`);
  await formatDisk(host, at, capacity, fsType);
  target.effect(`formatted ${fsType}`);
  return host.filesystems.probe(at.disk);
}

/** @returns the type of the sound filesystem on the disk */
export function soundType(found: ProbeResult): FsType {
  const fsType = found.kind === 'filesystem' && FS_TYPES.find((type) => type === found.fsType);
  if (fsType) return fsType;
  const holds = found.kind === 'unknown' ? found.what : found.kind === 'blank' ? 'nothing' : found.fsType;
  throw new NotApplied(`the disk holds ${holds}`);
}
