import { writeSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Log } from '../util/log';
import { type LastNumbers, lastNumbers } from './last-numbers';

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Appends lines to a file without making anybody wait: what comes while a write is under way goes out with the next. One
 * process writes a file; at `maxBytes` it becomes `<file>.1` and a new one begins.
 */
export class NdjsonFile {
  private handle: fs.FileHandle | undefined;
  private waiting: string[] = [];
  private writing: Promise<void> | undefined;
  private size = 0;
  private failed = false;
  private numbers: LastNumbers = { seq: 0, call: 0 };

  constructor(
    private readonly file: string,
    private readonly log: Log,
    private readonly maxBytes = DEFAULT_MAX_BYTES,
  ) {}

  async open(): Promise<void> {
    await fs.mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
    this.handle = await fs.open(this.file, 'a+', 0o600);
    this.size = (await this.handle.stat()).size;
    if (this.size > 0 && !(await this.endsWithNewline())) this.waiting.push('');
    this.numbers = await lastNumbers(this.file);
  }

  /** What the entries that were there at `open` end with. */
  get last(): LastNumbers {
    return this.numbers;
  }

  /** A process that was killed may have left half a line; readers skip it, but it must not swallow the next one. */
  private async endsWithNewline(): Promise<boolean> {
    const last = Buffer.alloc(1);
    await this.handle?.read(last, 0, 1, this.size - 1);
    return last[0] === 0x0a;
  }

  write(line: string): void {
    this.waiting.push(line);
    this.writing ??= this.drain();
  }

  private async drain(): Promise<void> {
    // Let the lines of this turn of the event loop come together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const text = Buffer.from(`${this.waiting.join('\n')}\n`);
      this.waiting = [];
      try {
        // On the spot: an append to the page cache is cheaper than a trip to the thread pool, and calls on hung disks
        // cannot keep it waiting there.
        if (this.handle) writeWhole(this.handle.fd, text);
        this.size += text.length;
        if (this.size > this.maxBytes) await this.rotate();
        this.failed = false;
      } catch (error) {
        // The driver serves on: the entries are in memory, and a full disk may be what is being tested.
        if (!this.failed)
          this.log.error({ file: this.file, error: String(error) }, 'the journal cannot be written');
        this.failed = true;
      }
    }
    this.writing = undefined;
  }

  private async rotate(): Promise<void> {
    await fs.rename(this.file, `${this.file}.1`);
    await this.handle?.close();
    this.handle = await fs.open(this.file, 'a+', 0o600);
    this.size = 0;
  }

  /** Resolves when everything that was appended has been written. */
  async flush(): Promise<void> {
    while (this.writing) await this.writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.handle?.close();
    this.handle = undefined;
  }
}

/** A disk that is almost full takes a part; the rest must fail rather than be forgotten. */
function writeWhole(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}
