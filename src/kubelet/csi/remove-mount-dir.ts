import * as fs from 'node:fs';
import * as path from 'node:path';
import { errnoOf } from '../../util/files';
import { removeVolData } from '../vol-data';
import type { MountView } from './mount-view';

/**
 * Takes away a target or staging folder, its vol_data.json and the folder of both (csi_mounter.go, removeMountDir). What is
 * still a mount point is left alone, and that is no error: the kubelet will not look there again.
 * @throws Error in the kubelet's words: a folder with files in it stays, and the whole teardown is repeated
 */
export async function removeMountDir(
  mounts: MountView,
  folder: string,
): Promise<'removed' | 'still mounted'> {
  let mounted: boolean;
  try {
    mounted = await mounts.isMountPoint(folder);
  } catch (error) {
    throw new Error(`failed to clean mount dir [${folder}]: ${(error as Error).message}`);
  }
  if (mounted) return 'still mounted';
  removeFolder(folder);
  removeVolData(path.dirname(folder));
  removeFolder(path.dirname(folder));
  return 'removed';
}

function removeFolder(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return;
    const reason = errno === 'ENOTEMPTY' ? 'directory not empty' : (error as Error).message;
    throw new Error(`failed to remove dir [${folder}]: remove ${folder}: ${reason}`);
  }
}
