import * as fs from 'node:fs/promises';
import { errnoOf } from '../util/files';
import { parseEntry } from './read-lines';

/** Where numbering in a journal was left; 0 where nothing is. */
export interface LastNumbers {
  seq: number;
  call: number;
}

const CHUNK_BYTES = 64 * 1024;
/** Calls are most of a journal: whoever finds none in so much of its end looks no further. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The last sequence number and the last call number in `file`, or in the one before it (`.1`) when `file` has just been
 * begun. Reads from the end, and no more than it has to.
 */
export async function lastNumbers(file: string): Promise<LastNumbers> {
  const last: LastNumbers = { seq: 0, call: 0 };
  for (const name of [file, `${file}.1`]) {
    if (last.seq > 0 && last.call > 0) break;
    await scan(name, last);
  }
  return last;
}

async function scan(name: string, last: LastNumbers): Promise<void> {
  let handle: fs.FileHandle;
  try {
    handle = await fs.open(name, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    let rest: Buffer = Buffer.alloc(0);
    for (let end = size; end > Math.max(0, size - MAX_BYTES); end -= CHUNK_BYTES) {
      const start = Math.max(0, end - CHUNK_BYTES);
      const chunk = Buffer.alloc(end - start);
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, start);
      const text: Buffer = Buffer.concat([chunk.subarray(0, bytesRead), rest]);
      // What stands before the first newline may begin in the chunk before.
      const whole = start === 0 ? 0 : text.indexOf(0x0a) + 1;
      if (start > 0 && whole === 0) {
        rest = text;
        continue;
      }
      rest = text.subarray(0, whole);
      const lines = text.subarray(whole).toString('utf8').split('\n');
      if (found(lines.reverse(), last)) return;
    }
  } finally {
    await handle.close();
  }
}

/** @returns whether no earlier line can say more: numbers only grow, and a call has its number when it arrives. */
function found(backwards: string[], last: LastNumbers): boolean {
  for (const line of backwards) {
    const entry = parseEntry(line);
    if (!entry) continue;
    if (entry.seq > last.seq) last.seq = entry.seq;
    if (entry.type === 'event') continue;
    if (entry.call > last.call) last.call = entry.call;
    if (entry.type === 'received') return true;
  }
  return false;
}
