import { readFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { Coalesced } from '../util/coalesced';
import {
  type Durability,
  errnoOf,
  namesIn,
  removeFile,
  removeFolder,
  syncFolder,
  writeFileAtomic,
} from '../util/files';
import { keyOf } from '../util/keys';
import type { Log } from '../util/log';
import { parseRecord, readRecord, UnreadableRecord } from './record-file';

interface Identified {
  version: number;
  id: string;
  sequence: number;
}

export interface RecordStoreOptions<T extends Identified> {
  /** Folder that holds one folder a record, named by the key of its id. */
  root: string;
  /** Name of the record's file in its folder. */
  file: string;
  required: readonly (keyof T & string)[];
  durability: Durability;
  log: Log;
  /** Reads all at start. A node process beside another controller does not: it reads each record when asked. */
  preload: boolean;
  /** Whether this process alone writes the record, so that what it has in memory is true. */
  owns(record: T): boolean;
  /** Told of every change of what is in memory, so that sums and indexes need no walk over all records. */
  onChange?(before: T | undefined, after: T | undefined): void;
}

/** Records of one kind: one folder each, whose name is a hash of the id; written atomically, kept in memory. */
export class RecordStore<T extends Identified> {
  private readonly records = new Map<string, T>();
  /** Folders whose record cannot be read, by key: their ids are not known, only that they exist. */
  private readonly unreadable = new Map<string, UnreadableRecord>();
  private nextSequence = 1;

  private readonly rootSync: Coalesced;

  constructor(private readonly options: RecordStoreOptions<T>) {
    this.rootSync = new Coalesced(() => syncFolder(options.root));
  }

  /** Reads every record. A broken one is reported and kept out; it costs that one only, and nothing is removed. */
  async load(): Promise<void> {
    const { root, log, required, preload } = this.options;
    await fs.mkdir(root, { recursive: true, mode: 0o700 });
    if (!preload) return;
    const found: T[] = [];
    for (const key of namesIn(root)) {
      const file = this.fileOf(key);
      try {
        // Synchronous on purpose: at start nothing else runs, and many small files are read several times faster.
        const record = parseRecord<T>(file, readFileSync(file, 'utf8'), required);
        if (keyOf(record.id) !== key) throw new UnreadableRecord(file, `the record of ${record.id}`);
        this.nextSequence = Math.max(this.nextSequence, record.sequence + 1);
        if (this.options.owns(record)) found.push(record);
      } catch (error) {
        if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') continue;
        const reason = error instanceof UnreadableRecord ? error : new UnreadableRecord(file, String(error));
        this.unreadable.set(key, reason);
        log.error({ file }, reason.message);
      }
    }
    // The map keeps the order of insertion, so from here on it is always in the order of creation.
    for (const record of found.sort((a, b) => a.sequence - b.sequence)) this.remember(record);
  }

  /**
   * @returns undefined when there is none.
   * @throws UnreadableRecord when it exists but its record is broken: that must never be taken for NOT_FOUND.
   */
  find(id: string): T | undefined {
    const known = this.records.get(id);
    if (known) return known;
    const key = keyOf(id);
    const record = readRecord<T>(this.fileOf(key), this.options.required);
    const broken = this.unreadable.get(key);
    if (broken && !record) throw broken;
    if (record) this.unreadable.delete(key);
    return record;
  }

  /** In the order of creation. */
  values(): Iterable<T> {
    return this.records.values();
  }

  get size(): number {
    return this.records.size;
  }

  /** Whether the record is this process's to change. */
  mayWrite(record: T): boolean {
    return this.options.owns(record);
  }

  takeSequence(): number {
    return this.nextSequence++;
  }

  /** Writes a new record; its folder and its bytes are there already. From now on the thing exists. */
  add(record: T): Promise<void> {
    return this.write(record, this.rootSync);
  }

  /** Replaces a record. In memory it changes only after the disk has it. */
  update(record: T): Promise<void> {
    return this.write(record);
  }

  private async write(record: T, alsoSync?: Coalesced): Promise<void> {
    const text = `${JSON.stringify(record, undefined, 1)}\n`;
    await writeFileAtomic(this.fileOf(keyOf(record.id)), text, this.options.durability, alsoSync);
    if (this.options.owns(record)) this.remember(record);
  }

  /** Removes the record, then the bytes: what a kill leaves in between has no record and is swept at the next start. */
  async remove(id: string): Promise<void> {
    const key = keyOf(id);
    removeFile(this.fileOf(key));
    const before = this.records.get(id);
    this.records.delete(id);
    this.options.onChange?.(before, undefined);
    await removeFolder(this.folderOf(key));
    if (this.options.durability === 'durable') await this.rootSync.run();
  }

  /** Folders without a record: what a killed create or delete left. */
  async unfinished(): Promise<string[]> {
    const known = new Set([...this.records.keys()].map(keyOf));
    const left: string[] = [];
    for (const key of namesIn(this.options.root)) {
      if (known.has(key) || this.unreadable.has(key)) continue;
      const there = await fs.lstat(this.fileOf(key)).then(
        () => true,
        () => false,
      );
      if (!there) left.push(this.folderOf(key));
    }
    return left;
  }

  private remember(record: T): void {
    const before = this.records.get(record.id);
    this.records.set(record.id, record);
    this.options.onChange?.(before, record);
  }

  private folderOf(key: string): string {
    return `${this.options.root}/${key}`;
  }

  private fileOf(key: string): string {
    return `${this.folderOf(key)}/${this.options.file}`;
  }
}
