import * as fs from 'node:fs/promises';
import * as path from 'node:path';

/** Larger files are bytes of volumes, and neither logs nor records. */
const LARGEST = 64 * 2 ** 20;

/** Texts of files, and of all files below folders, one after another. @throws Error with one line */
export async function textsOf(places: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for (const place of places) texts.push(await textOf(place));
  return texts.join('\n');
}

async function textOf(place: string): Promise<string> {
  const stat = await fs.lstat(place).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`--look-in ${place}: expected a file or folder that can be read (${error.code})`);
  });
  if (stat.isFile()) return read(place, stat.size);
  const entries = await fs.readdir(place, { withFileTypes: true, recursive: true });
  const texts = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    // Files of a running driver come and go.
    .map(async (file) => read(file, (await fs.stat(file)).size).catch(() => ''));
  return (await Promise.all(texts.map((text) => text.catch(() => '')))).join('\n');
}

const read = (file: string, size: number) =>
  size > LARGEST ? Promise.resolve('') : fs.readFile(file, 'latin1');
