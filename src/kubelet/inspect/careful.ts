import * as fs from 'node:fs';
import { errnoOf } from '../../util/files';

export type FileKind = 'folder' | 'file' | 'link' | 'socket' | 'device' | 'other';

export interface Listed {
  readonly name: string;
  readonly kind: FileKind;
}

/** What could not be looked at, in a person's words. */
export interface Unreadable {
  readonly reason: string;
}

/** The kubelet's own files have some hundred bytes. */
export const LARGEST_FILE = 64 * 1024;

export function isUnreadable(found: unknown): found is Unreadable {
  return typeof found === 'object' && found !== null && 'reason' in found;
}

/**
 * What lies in a folder, sorted by name; nothing for one that is not there. Kinds come from the folder itself: what hangs
 * behind a mount point is not touched.
 */
export function listFolder(folder: string): readonly Listed[] | Unreadable {
  let entries: fs.Dirent[];
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : { reason: reasonOf(error) };
  }
  return entries
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(entry: fs.Dirent | fs.Stats): FileKind {
  if (entry.isDirectory()) return 'folder';
  if (entry.isFile()) return 'file';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isSocket()) return 'socket';
  return entry.isBlockDevice() || entry.isCharacterDevice() ? 'device' : 'other';
}

/** A small file's text, or undefined when it is not there. Links are not followed, and a fifo is not waited for. */
export function readSmallFile(file: string): string | undefined | Unreadable {
  let fd: number;
  try {
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    return { reason: errnoOf(error) === 'ELOOP' ? 'it is a symbolic link' : reasonOf(error) };
  }
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) return { reason: `it is no file but a ${describe(stats)}` };
    if (stats.size > LARGEST_FILE)
      return { reason: `it has ${stats.size} bytes, expected at most ${LARGEST_FILE}` };
    return fs.readFileSync(fd, 'utf8');
  } catch (error) {
    return { reason: reasonOf(error) };
  } finally {
    fs.closeSync(fd);
  }
}

function describe(stats: fs.Stats): string {
  const kind = kindOf(stats);
  return kind === 'other' ? 'fifo' : kind;
}

/** Where a link leads, without going there; undefined when it is none. */
export function linkTarget(link: string): string | undefined {
  try {
    return fs.readlinkSync(link);
  } catch {
    return undefined;
  }
}

export function reasonOf(error: unknown): string {
  const words: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ENOTDIR: 'it is not a folder',
    ELOOP: 'its symbolic links lead in a circle',
    EIO: 'input/output error',
    ENAMETOOLONG: 'its name is too long',
  };
  const errno = errnoOf(error);
  return (errno !== undefined && words[errno]) || errno || (error as Error).message;
}
