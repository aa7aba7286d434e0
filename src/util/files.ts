import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';

/**
 * `durable`: file and folder are fsynced, so that the content survives power loss. `process`: only atomic, which
 * survives any death of the process; right for what describes the kernel's state of this boot.
 */
export type Durability = 'durable' | 'process';

/** Replaces `file` as a whole: readers see the old content or the new, never a part. */
export async function writeFileAtomic(file: string, content: string, durability: Durability): Promise<void> {
  // One owner per file and one operation per volume at a time: a fixed name cannot clash, and never accumulates.
  const temporary = `${file}.tmp`;
  try {
    const handle = await fs.open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(content);
      if (durability === 'durable') await handle.datasync();
    } finally {
      await handle.close();
    }
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  if (durability === 'durable') await syncFolder(path.dirname(file));
}

/** Makes the names in a folder durable (a rename or unlink is not, before this). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  if (typeof code === 'string') return code;
  return typeof errno === 'string' ? errno : undefined;
}

/** The file's text, or undefined when there is no such file. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Names in a folder; a folder that is not there holds nothing. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Makes a folder and the ones above it. Not fs.mkdir's `recursive`: on a file system that answers ENOENT to mkdir itself
 * (/proc) Node 20 never returns from that.
 */
export async function ensureFolder(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { mode: 0o755 });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' && (await fs.stat(folder)).isDirectory()) return;
    const parent = path.dirname(folder);
    if (errno !== 'ENOENT' || parent === folder || (await isFolder(parent))) throw error;
    await ensureFolder(parent);
    await fs.mkdir(folder, { mode: 0o755 });
  }
}

async function isFolder(name: string): Promise<boolean> {
  return fs.stat(name).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
}
