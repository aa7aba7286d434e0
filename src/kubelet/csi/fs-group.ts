import * as fs from 'node:fs';
import * as path from 'node:path';
import { StepError } from '../errors';
import type { CsiDriverObject, Pod } from '../objects';
import type { VolumeSpec } from '../volumemanager/spec';

/** Whether the kubelet gives what it mounted to the pod's group (csi_mounter.go, supportsFSGroup). */
export function isOwnershipApplied(driver: CsiDriverObject | undefined, spec: VolumeSpec): boolean {
  if (spec.readOnly) return false;
  switch (driver?.fsGroupPolicy ?? 'ReadWriteOnceWithFSType') {
    case 'File':
      return true;
    case 'None':
      return false;
    case 'ReadWriteOnceWithFSType':
      return (
        spec.fsType !== '' &&
        (spec.lifecycleMode === 'Ephemeral' ||
          spec.accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod'))
      );
  }
}

const FILE_BITS = 0o660;
const FOLDER_BITS = 0o2770;

/**
 * pkg/volume/volume_linux.go: children before their folder. What cannot be looked at ends it; what cannot be changed is
 * only logged, and a pod finds out.
 * @throws StepError
 */
export function applyFsGroup(
  target: string,
  gid: number,
  policy: Pod['fsGroupChangePolicy'],
  spec: VolumeSpec,
): void {
  try {
    const root = fs.lstatSync(target);
    if (policy === 'OnRootMismatch' && root.gid === gid && (root.mode & FOLDER_BITS) === FOLDER_BITS) return;
    walk(target, root, gid);
  } catch (error) {
    const { message } = error as Error;
    throw new StepError('uncertain', `applyFSGroup failed for vol ${spec.volumeHandle}: ${message}`);
  }
}

function walk(place: string, stats: fs.Stats, gid: number): void {
  if (stats.isDirectory())
    for (const name of fs.readdirSync(place).sort()) {
      const inside = path.join(place, name);
      walk(inside, fs.lstatSync(inside), gid);
    }
  try {
    fs.lchownSync(place, stats.uid, gid);
    if (!stats.isSymbolicLink())
      fs.chmodSync(place, (stats.mode & 0o7777) | (stats.isDirectory() ? FOLDER_BITS : FILE_BITS));
  } catch {
    // "Lchown failed on …": a line in the log, no error.
  }
}
