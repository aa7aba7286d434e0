import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { invalidArgument } from '../../csi/status';
import { errnoOf } from '../../util/files';

const SETGID = 0o2000;
const GROUP_READ_WRITE = 0o060;
const GROUP_SEARCH = 0o010;

/**
 * Gives a volume's files to a group, as the kubelet does for fsGroup when the driver has no VOLUME_MOUNT_GROUP: owner
 * group, group read and write, setgid folders. A root that is as it should be means the rest is too (OnRootMismatch).
 */
export async function giveToGroup(root: string, group: string): Promise<void> {
  const gid = /^\d{1,10}$/.test(group) ? Number(group) : Number.NaN;
  if (!(gid <= 0xfffffffe))
    throw invalidArgument(`volume_mount_group: expected a numeric group id, found ${JSON.stringify(group)}`);
  const stat = await fs.lstat(root);
  const wanted = GROUP_READ_WRITE | GROUP_SEARCH | SETGID;
  if (stat.gid === gid && (stat.mode & wanted) === wanted) return;
  await walk(root, gid);
  await own(root, gid);
}

async function walk(folder: string, gid: number): Promise<void> {
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) await walk(name, gid);
    await own(name, gid);
  }
}

/** The root comes last: only then does it say that everything below is done. */
async function own(name: string, gid: number): Promise<void> {
  try {
    const stat = await fs.lstat(name);
    await fs.lchown(name, stat.uid, gid);
    if (stat.isSymbolicLink()) return;
    const extra = stat.isDirectory() ? GROUP_READ_WRITE | GROUP_SEARCH | SETGID : GROUP_READ_WRITE;
    await fs.chmod(name, (stat.mode & 0o7777) | extra);
  } catch (error) {
    // A workload may remove files while we walk.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
