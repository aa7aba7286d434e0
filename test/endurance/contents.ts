import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';

/** What was written to a volume and is on its disk: name of a file, or number of a slot, to the hash of its bytes. */
export type Contents = ReadonlyMap<string, string>;

const SLOTS = 16;
const MOST_BYTES = 64 * 1024;

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Writes one random file, or slot of a raw disk, through to the disk. @returns what the volume holds then. */
export async function write(
  target: string,
  block: boolean,
  slot: number,
  before: Contents,
): Promise<Contents> {
  const index = slot % SLOTS;
  const bytes = randomBytes(block ? MOST_BYTES : 1 + (randomBytes(2).readUInt16LE() % MOST_BYTES));
  const name = block ? `${index}` : `file-${index}`;
  const handle = await fs.open(block ? target : path.join(target, name), block ? 'r+' : 'w');
  try {
    await handle.write(bytes, 0, bytes.length, block ? index * MOST_BYTES : 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return new Map([...before, [name, hashOf(bytes)]]);
}

/** What is not as it was written, a line each. */
export async function differences(target: string, block: boolean, contents: Contents): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, hash] of contents) {
    const found = await read(target, block, name).catch((error: Error) => error);
    if (found instanceof Error) wrong.push(`${name}: ${found.message}`);
    else if (hashOf(found) !== hash) wrong.push(`${name}: ${found.length} bytes that were never written so`);
  }
  return wrong;
}

async function read(target: string, block: boolean, name: string): Promise<Buffer> {
  if (!block) return fs.readFile(path.join(target, name));
  const handle = await fs.open(target, 'r');
  try {
    const bytes = Buffer.alloc(MOST_BYTES);
    await handle.read(bytes, 0, MOST_BYTES, Number(name) * MOST_BYTES);
    return bytes;
  } finally {
    await handle.close();
  }
}
