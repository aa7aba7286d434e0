import { HostError } from '../host';
import { AT, isErrno, type Libc, S_IF } from '../libc';

/** What may be mounted at a path: a folder on a folder, anything else on anything else. */
export type TargetKind = 'folder' | 'other';

/**
 * Refuses a target that is missing, a symbolic link (a file can be mounted on the link itself, which would hide it,
 * and mount(2) would follow it), or of the wrong kind.
 * @throws HostError ENOENT, ELOOP, ENOTDIR.
 */
export async function checkTarget(
  libc: Libc,
  operation: 'mount' | 'bind',
  target: string,
  kind?: TargetKind,
): Promise<void> {
  const refuse = (errno: string, reason: string) =>
    new HostError(errno, operation, `${operation}: ${target}: ${errno}: the mount point ${reason}`);
  const found = await kindOf(libc, target);
  if (found === null) throw refuse('ENOENT', 'does not exist; make it first');
  if (found === 'link') throw refuse('ELOOP', 'is a symbolic link, which is never followed');
  if (kind === undefined || kind === found) return;
  throw refuse('ENOTDIR', kind === 'folder' ? 'is not a folder' : 'is a folder, and the source is not');
}

export async function kindOf(libc: Libc, path: string): Promise<TargetKind | 'link' | null> {
  try {
    const type = (await libc.statx(path, AT.SYMLINK_NOFOLLOW | AT.NO_AUTOMOUNT)).mode & S_IF.MT;
    if (type === S_IF.LNK) return 'link';
    return type === S_IF.DIR ? 'folder' : 'other';
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
