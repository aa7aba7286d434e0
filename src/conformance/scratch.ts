import * as fs from 'node:fs/promises';
import * as path from 'node:path';

/** Folders of one case, as a CO makes them: a parent for staging and one for targets. */
export class Scratch {
  private last = 0;

  constructor(readonly root: string) {}

  /** A new folder, as a CO makes for staging. */
  async folder(): Promise<string> {
    this.last += 1;
    const folder = path.join(this.root, `folder-${this.last}`);
    await fs.mkdir(folder, { recursive: true });
    return folder;
  }

  /** A path that is not there, with a parent that is, as a CO prepares for a target. */
  async target(): Promise<string> {
    return path.join(await this.folder(), 'target');
  }

  /** @returns one line for each mount that is still there: a folder must never be emptied through one */
  async remove(): Promise<string[]> {
    const mounts = (await mountPoints()).filter((point) => point.startsWith(`${this.root}/`));
    if (mounts.length > 0) return mounts.map((point) => `${point} is still mounted`);
    await fs.rm(this.root, { recursive: true, force: true });
    return [];
  }
}

/** Of this mount namespace; none where the system has no such table. */
async function mountPoints(): Promise<string[]> {
  const text = await fs.readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  return text
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((point) =>
      point.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    );
}

/** What stands at a path, without following links: undefined where nothing does. */
export async function at(file: string) {
  return fs.lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}
