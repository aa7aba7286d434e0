import * as fs from 'node:fs/promises';
import type { AccessType } from '../../backends/backend';
import { failedPrecondition, invalidArgument } from '../../csi/status';
import { errnoOf } from '../../util/files';
import type { Log } from '../../util/log';

/**
 * Makes the thing a mount needs to stand on: a folder for a mount volume, an empty file for a raw device. The CO makes the
 * parent, the plugin the target itself (CSI 1.12, NodePublishVolume).
 * @returns whether it was made here.
 */
export async function makeTarget(target: string, accessType: AccessType): Promise<boolean> {
  try {
    if (accessType === 'mount') await fs.mkdir(target, { mode: 0o750 });
    else await (await fs.open(target, 'wx', 0o640)).close();
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP')
      throw failedPrecondition(
        `target_path: the folder that ${target} would be in does not exist; the CO has to make it`,
      );
    if (errno !== 'EEXIST') throw error;
  }
  const stat = await fs.lstat(target);
  if (stat.isSymbolicLink())
    throw invalidArgument(`target_path: ${target} is a symbolic link; it is not followed, remove it`);
  const fits = accessType === 'mount' ? stat.isDirectory() : stat.isFile() || stat.isBlockDevice();
  if (!fits)
    throw failedPrecondition(
      `target_path: expected ${accessType === 'mount' ? 'a folder' : 'a file'} or nothing at ${target}, found something else`,
    );
  return false;
}

/**
 * Removes an unmounted target: an empty folder or an empty file, nothing else. What others put there stays, and the
 * answer is OK all the same, since the volume is gone from it.
 */
export async function removeTarget(target: string, log: Log): Promise<void> {
  try {
    // Nearly always a folder: one call does it, and refuses to remove what holds files.
    await fs.rmdir(target);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ELOOP') return;
    if (errno === 'ENOTDIR') return removeFileTarget(target, log);
    if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST') throw error;
    log.warn({ target_path: target }, 'left alone: the folder holds files that are not of the volume');
  }
}

async function removeFileTarget(target: string, log: Log): Promise<void> {
  try {
    const stat = await fs.lstat(target);
    if (stat.isFile() && stat.size === 0) await fs.unlink(target);
    else log.warn({ target_path: target }, 'left alone: it is not what this driver makes');
  } catch (error) {
    // A parent that is no folder holds no target.
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
  }
}
