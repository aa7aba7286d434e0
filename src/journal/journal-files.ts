import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { errnoOf } from '../util/files';
import type { TimelineEntry } from './merge';
import { LineReader, parseEntry } from './read-lines';

const SUFFIX = '.ndjson';

/** Names of the processes that have written in a journal folder, sorted. None when there is no such folder. */
export async function processesIn(folder: string): Promise<string[]> {
  try {
    const names = await fs.readdir(folder);
    const processes = names
      .filter((name) => name.endsWith(SUFFIX) || name.endsWith(`${SUFFIX}.1`))
      .map((name) => name.slice(0, name.lastIndexOf(SUFFIX)));
    return [...new Set(processes)].sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

interface OpenFile {
  readonly handle: fs.FileHandle;
  readonly inode: number;
  readonly reader: LineReader;
}

/** @returns undefined when there is no such file. */
async function open(file: string): Promise<OpenFile | undefined> {
  try {
    const handle = await fs.open(file, 'r');
    const { ino: inode } = await handle.stat();
    return { handle, inode, reader: new LineReader(handle) };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * What one process wrote and goes on writing, from the start of its file before (`.1`) on. Follows the file when it is
 * rotated: what was not read of the old one is still there under its handle.
 */
export class ProcessFile {
  private readonly file: string;
  private older: OpenFile | undefined;
  private current: OpenFile | undefined;
  private begun = false;

  constructor(
    folder: string,
    readonly process: string,
    private readonly keep: (line: string) => boolean = () => true,
  ) {
    this.file = path.join(folder, `${process}${SUFFIX}`);
  }

  /** Entries that have come since the last time, a chunk at a time; undefined when there are none for now. */
  async next(): Promise<TimelineEntry[] | undefined> {
    if (!this.begun) await this.begin();
    for (;;) {
      const lines = (await this.older?.reader.next()) ?? (await this.fromCurrent());
      if (!lines) return undefined;
      const entries = this.parse(lines);
      if (entries.length > 0) return entries;
    }
  }

  async *entries(): AsyncGenerator<TimelineEntry, void, undefined> {
    try {
      for (let some = await this.next(); some; some = await this.next()) yield* some;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.older?.handle.close();
    await this.current?.handle.close();
    this.older = undefined;
    this.current = undefined;
  }

  private async begin(): Promise<void> {
    this.begun = true;
    // The new one first: were it rotated between the two, it would be the older one and not missing.
    this.current = await open(this.file);
    const older = await open(`${this.file}.1`);
    if (older && older.inode === this.current?.inode) await older.handle.close();
    else this.older = older;
  }

  private async fromCurrent(): Promise<string[] | undefined> {
    await this.older?.handle.close();
    this.older = undefined;
    this.current ??= await open(this.file);
    const lines = await this.current?.reader.next();
    if (lines || !this.current) return lines;
    const inode = await inodeOf(this.file);
    if (inode === undefined || inode === this.current.inode) return undefined;
    // Rotated. What was written between the read and the rename comes first.
    const rest = await this.current.reader.next();
    if (rest) return rest;
    await this.current.handle.close();
    this.current = await open(this.file);
    return this.current?.reader.next();
  }

  private parse(lines: readonly string[]): TimelineEntry[] {
    const entries: TimelineEntry[] = [];
    for (const line of lines) {
      if (!this.keep(line)) continue;
      const entry = parseEntry(line);
      if (entry) entries.push(Object.assign(entry, { process: this.process }));
    }
    return entries;
  }
}

async function inodeOf(file: string): Promise<number | undefined> {
  try {
    return (await fs.stat(file)).ino;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
