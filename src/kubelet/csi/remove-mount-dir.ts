import * as fs from 'node:fs';
import * as path from 'node:path';
import { errnoOf } from '../../util/files';
import { csiText } from '../errors';
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
  if (await mounts.isMountPoint(folder)) return 'still mounted';
  remove(folder);
  removeVolData(path.dirname(folder));
  remove(path.dirname(folder));
  return 'removed';
}

/** Go's os.Remove: an empty folder, but also a file, or a link and not what it leads to, which a driver may have put there. */
function remove(place: string): void {
  try {
    if (fs.lstatSync(place).isDirectory()) fs.rmdirSync(place);
    else fs.unlinkSync(place);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return;
    const reason = errno === 'ENOTEMPTY' ? 'directory not empty' : (error as Error).message;
    throw new Error(csiText(`failed to remove dir [${place}]: remove ${place}: ${reason}`));
  }
}
