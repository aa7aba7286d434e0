import * as fs from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';

/**
 * `durable`: file and folder are fsynced, so that the content survives power loss. `process`: only atomic, which
 * survives any death of the process; right for what describes the kernel's state of this boot.
 */
export type Durability = 'durable' | 'process';

/**
 * Replaces `file` as a whole: readers see the old content or the new, never a part.
 *
 * Small files of our own folder are written on the spot: a trip to the thread pool costs more than the write, and a pool
 * full of calls on hung disks must not keep records from being kept. Only what waits for the disk (fsync) goes there.
 */
export async function writeFileAtomic(file: string, content: string, durability: Durability): Promise<void> {
  // One owner per file and one operation per volume at a time: a fixed name cannot clash, and never accumulates.
  const temporary = `${file}.tmp`;
  try {
    await writeNewFile(temporary, content, durability);
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  if (durability === 'durable') await syncFolder(path.dirname(file));
}

/** Writes a small file where nobody looks yet. Its name is durable only after a sync of its folder. */
export async function writeNewFile(file: string, content: string, durability: Durability): Promise<void> {
  const fd = fs.openSync(file, 'w', 0o600);
  try {
    fs.writeFileSync(fd, content);
    if (durability === 'durable') await fdatasync(fd);
  } catch (error) {
    // By a descriptor the kernel's words are all there is; which disk is full, only the name tells.
    (error as NodeJS.ErrnoException).message += ` '${file}'`;
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** Removes a small file of our own; one that is not there is fine. */
export function removeFile(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);

/** Removes a folder of ours with all in it. Large files go in the thread pool: freeing their blocks takes time. */
export async function removeFolder(folder: string): Promise<void> {
  for (const name of namesIn(folder)) {
    const inside = path.join(folder, name);
    try {
      await unlink(inside);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') await fs.promises.rm(inside, { recursive: true, force: true });
    }
  }
  try {
    fs.rmdirSync(folder);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

const unlink = promisify(fs.unlink);

/** Makes the names in a folder durable (a rename or unlink is not, before this). */
export async function syncFolder(folder: string): Promise<void> {
  const fd = fs.openSync(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    await fsync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  if (typeof code === 'string') return code;
  return typeof errno === 'string' ? errno : undefined;
}

/** Made once: of 'utf8' alone Node makes such an object at each call, a fourth of what reading a record takes. */
const TEXT = { encoding: 'utf8', flag: 'r' } as const;

/** The text of a small file, read on the spot. */
export function readText(file: string): string {
  return fs.readFileSync(file, TEXT);
}

/** The text of a small file of our own, or undefined when there is no such file. */
export function readIfThere(file: string): string | undefined {
  try {
    return readText(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Names in a folder of our own; a folder that is not there holds nothing. */
export function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Makes a folder and the ones above it. Not fs.mkdir's `recursive`: on a file system that answers ENOENT to mkdir itself
 * (/proc) Node 20 never returns from that.
 */
export function ensureFolder(folder: string, mode = 0o755): void {
  try {
    fs.mkdirSync(folder, { mode });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' && isFolder(folder)) return;
    const parent = path.dirname(folder);
    if (errno !== 'ENOENT' || parent === folder || isFolder(parent)) throw error;
    ensureFolder(parent);
    fs.mkdirSync(folder, { mode });
  }
}

function isFolder(name: string): boolean {
  return fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
}
