import * as fs from 'node:fs/promises';
import type { FsType, Host } from '../../host/host';
import { MEMORY_MARKER_OFFSET, MEMORY_MARKER_SIZE, parseMemoryMarker } from '../../host/probe';
import { BTRFS_SUPERBLOCK_OFFSET } from '../../host/probe/btrfs';
import { EXT, EXT_SUPERBLOCK_OFFSET } from '../../host/probe/ext';
import { XFS } from '../../host/probe/xfs';
import { NotApplied } from './not-applied';
import { formatted, refuseInUse, soundType, wanted } from './on-disk';
import type { DiskTarget, PreparedDisk } from './target';

const CHECKSUM_SIZE = 4;
/** Where the checksum of the superblock that the kernel mounts by is. Backups are left as they are. */
const CHECKSUM_AT: Readonly<Record<FsType, number>> = {
  ext4: EXT_SUPERBLOCK_OFFSET + EXT.checksum,
  xfs: XFS.crc,
  btrfs: BTRFS_SUPERBLOCK_OFFSET,
};

/** The superblock's checksum does not match. It stays so; a file system check could repair it. */
export async function corruptSuperblock(target: DiskTarget): Promise<PreparedDisk> {
  refuseInUse(target);
  const raw = target.stage.accessType === 'block';
  const { host, at, effect } = target;
  const found = raw ? await host.filesystems.probe(at.disk) : await formatted(target);
  const mountAs = raw ? undefined : wanted(target, found);
  // Once more would make it whole again.
  if (found.kind === 'unknown') effect(`the superblock is corrupt already: ${found.what}`);
  else {
    const fsType = soundType(found);
    await damage(host, at.disk, fsType);
    const after = await host.filesystems.probe(at.disk);
    if (after.kind === 'filesystem')
      throw new NotApplied(`this ${fsType} has no checksum in its superblock that could be wrong`);
    effect(`the superblock of ${fsType} is corrupt: its checksum does not match`);
  }
  return { device: mountAs === undefined ? {} : { mountAs } };
}

async function damage(host: Host, disk: string, fsType: FsType): Promise<void> {
  const file = await fs.open(disk, 'r+');
  try {
    if (host.kind === 'memory') await damageMarker(file);
    else await invert(file, CHECKSUM_AT[fsType]);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function invert(file: fs.FileHandle, position: number): Promise<void> {
  const bytes = Buffer.alloc(CHECKSUM_SIZE);
  await file.read(bytes, 0, bytes.length, position);
  for (const [index, byte] of bytes.entries()) bytes[index] = byte ^ 0xff;
  await file.write(bytes, 0, bytes.length, position);
}

/** A filesystem of the model has facts instead of a checksum: the brace that opens them goes. */
async function damageMarker(file: fs.FileHandle): Promise<void> {
  const marker = Buffer.alloc(MEMORY_MARKER_SIZE);
  await file.read(marker, 0, marker.length, MEMORY_MARKER_OFFSET);
  const brace = marker.indexOf('{');
  if (parseMemoryMarker(marker) === null || brace < 0) return;
  await file.write(Buffer.from('?'), 0, 1, MEMORY_MARKER_OFFSET + brace);
}
