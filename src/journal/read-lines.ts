import type { FileHandle } from 'node:fs/promises';
import type { JournalEntry } from './entry';

const CHUNK_BYTES = 256 * 1024;
/** No entry is as long (the redaction cuts); whatever is, was not written by us and must not fill the memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** @returns undefined for what is no entry: half a line of a process that was killed, or a foreign one. */
export function parseEntry(line: string): JournalEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry = JSON.parse(line) as Partial<JournalEntry>;
    if (typeof entry.seq !== 'number' || typeof entry.at !== 'string') return undefined;
    if (entry.type === 'event') return typeof entry.event === 'string' ? (entry as JournalEntry) : undefined;
    if (entry.type !== 'received' && entry.type !== 'answered') return undefined;
    return typeof entry.call === 'number' && typeof entry.method === 'string'
      ? (entry as JournalEntry)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The whole lines of a file that grows, read a piece at a time. */
export class LineReader {
  private rest: Buffer = Buffer.alloc(0);
  private skipping = false;

  constructor(
    private readonly handle: FileHandle,
    private position = 0,
  ) {}

  /** The next lines; undefined when there are none for now. A last line without its newline waits for the rest. */
  async next(): Promise<string[] | undefined> {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await this.handle.read(chunk, 0, CHUNK_BYTES, this.position);
      if (bytesRead === 0) return undefined;
      this.position += bytesRead;
      const lines = this.take(chunk.subarray(0, bytesRead));
      if (lines.length > 0) return lines;
    }
  }

  private take(chunk: Buffer): string[] {
    const end = chunk.lastIndexOf(0x0a);
    if (end === -1) {
      if (this.rest.length + chunk.length > MAX_LINE_BYTES) {
        this.skipping = true;
        this.rest = Buffer.alloc(0);
      } else if (!this.skipping) this.rest = Buffer.concat([this.rest, chunk]);
      return [];
    }
    const lines = Buffer.concat([this.rest, chunk.subarray(0, end)])
      .toString('utf8')
      .split('\n');
    this.rest = Buffer.from(chunk.subarray(end + 1));
    if (this.skipping) lines.shift();
    this.skipping = false;
    return lines;
  }
}
