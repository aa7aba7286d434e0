import { existsSync, mkdirSync, renameSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { Coalesced } from '../util/coalesced';
import {
  type Durability,
  errnoOf,
  namesIn,
  readText,
  removeFolder,
  syncFolder,
  writeFileAtomic,
  writeNewFile,
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
  /** This process among those that share the folder: what it left half made is its own to sweep. */
  owner: string;
  /** Whether this process alone writes the record, so that what it has in memory is true. */
  owns(record: T): boolean;
  /** Told of every change of what is in memory, so that sums and indexes need no walk over all records. */
  onChange?(before: T | undefined, after: T | undefined): void;
}

/**
 * Records of one kind: one folder each, whose name is a hash of the id; written atomically, kept in memory. A folder has
 * that name only while it is whole: it is made, and removed, under another one, so a kill leaves all of it or nothing.
 */
export class RecordStore<T extends Identified> {
  private records = new Map<string, T>();
  /** The highest sequence in memory, and whether one came after a higher one: of two made at once the later may be whole first. */
  private lastSequence = 0;
  private inOrder = true;
  /** Folders whose record cannot be read, by key: their ids are not known, only that they exist. */
  private readonly unreadable = new Map<string, UnreadableRecord>();
  private nextSequence = 1;

  private readonly rootSync: Coalesced;

  constructor(private readonly options: RecordStoreOptions<T>) {
    this.rootSync = new Coalesced(() => syncFolder(options.root));
  }

  /** Reads every record. A broken one is reported and kept out; it costs that one only, and nothing is removed. */
  async load(): Promise<void> {
    const { root, log, required } = this.options;
    await fs.mkdir(root, { recursive: true, mode: 0o700 });
    const found: T[] = [];
    for (const key of namesIn(root)) {
      if (key.startsWith('.')) continue;
      const file = this.fileOf(key);
      try {
        // Synchronous on purpose: at start nothing else runs, and many small files are read several times faster.
        const record = parseRecord<T>(file, readText(file), required);
        if (keyOf(record.id) !== key) throw new UnreadableRecord(file, `the record of ${record.id}`);
        this.nextSequence = Math.max(this.nextSequence, record.sequence + 1);
        if (this.options.owns(record)) found.push(record);
      } catch (error) {
        if (errnoOf(error) === 'ENOTDIR' || (errnoOf(error) === 'ENOENT' && !this.hasBytes(key))) continue;
        const reason = error instanceof UnreadableRecord ? error : new UnreadableRecord(file, String(error));
        this.unreadable.set(key, reason);
        log.error({ file }, reason.message);
      }
    }
    for (const record of found) this.remember(record);
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
    this.unreadable.delete(key);
    if (!record) {
      if (!this.hasBytes(key)) return undefined;
      const broken = new UnreadableRecord(this.fileOf(key), 'no such file beside its bytes');
      this.unreadable.set(key, broken);
      throw broken;
    }
    // Another process may have made what is this one's to keep (a static volume that a node needed first).
    if (this.options.owns(record)) this.remember(record);
    return record;
  }

  /** A folder without a record is what somebody made of a whole one: its bytes are nobody's to remove. */
  private hasBytes(key: string): boolean {
    try {
      return namesIn(this.folderOf(key)).length > 0;
    } catch (error) {
      if (errnoOf(error) === 'ENOTDIR') return false;
      throw error;
    }
  }

  /** In the order of creation, and by key where two processes gave one number: pages of a listing go by it. */
  values(): Iterable<T> {
    if (!this.inOrder) {
      const ordered = [...this.records].sort(([, a], [, b]) => a.sequence - b.sequence || byKey(a, b));
      // Whoever walks over the old one goes on.
      this.records = new Map(ordered);
      this.inOrder = true;
    }
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

  /** An empty folder in which something new can be made; nobody finds it there before `commit`. */
  async begin(id: string): Promise<string> {
    const folder = `${this.options.root}/.new-${this.options.owner}-${keyOf(id)}`;
    if (existsSync(folder)) await removeFolder(folder);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  /**
   * Gives a folder that `begin` made its record and its name: from now on the thing exists.
   * @throws ENOTEMPTY or EEXIST when another process made it meanwhile.
   */
  async commit(record: T, folder: string): Promise<void> {
    const { file, durability, owns } = this.options;
    const place = this.folderOf(keyOf(record.id));
    await writeNewFile(`${folder}/${file}`, textOf(record), durability);
    renameSync(folder, place);
    if (durability === 'durable') await Promise.all([syncFolder(place), this.rootSync.run()]);
    if (owns(record)) this.remember(record);
  }

  /** Removes what `begin` made and nobody will commit. */
  async abandon(folder: string): Promise<void> {
    await removeFolder(folder);
  }

  /** Replaces a record. In memory it changes only after the disk has it. */
  async update(record: T): Promise<void> {
    await writeFileAtomic(this.fileOf(keyOf(record.id)), textOf(record), this.options.durability);
    if (this.options.owns(record)) this.remember(record);
  }

  /** Removes the record and the bytes: both at once to whoever looks, though freeing the bytes takes its time. */
  async remove(id: string): Promise<void> {
    const key = keyOf(id);
    const folder = `${this.options.root}/.old-${this.options.owner}-${key}`;
    try {
      if (existsSync(folder)) await removeFolder(folder);
      renameSync(this.folderOf(key), folder);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    const before = this.records.get(id);
    this.records.delete(id);
    this.options.onChange?.(before, undefined);
    await Promise.all([
      removeFolder(folder),
      this.options.durability === 'durable' ? this.rootSync.run() : undefined,
    ]);
  }

  /** Removes what an earlier process of this owner was making or removing when it was killed. @returns the folders. */
  async sweep(): Promise<string[]> {
    const { root, owner } = this.options;
    const own = namesIn(root).filter((name) => /^\.(new|old)-/.test(name) && name.startsWith(`${owner}-`, 5));
    for (const name of own) await removeFolder(`${root}/${name}`);
    return own.map((name) => `${root}/${name}`);
  }

  private remember(record: T): void {
    const before = this.records.get(record.id);
    this.records.set(record.id, record);
    // The map keeps the place of what is replaced, and puts what is new at the end.
    if (before === undefined && record.sequence <= this.lastSequence) this.inOrder = false;
    this.lastSequence = Math.max(this.lastSequence, record.sequence);
    this.options.onChange?.(before, record);
  }

  private folderOf(key: string): string {
    return `${this.options.root}/${key}`;
  }

  private fileOf(key: string): string {
    return `${this.folderOf(key)}/${this.options.file}`;
  }
}

function textOf(record: object): string {
  return `${JSON.stringify(record, undefined, 1)}\n`;
}

function byKey(a: Identified, b: Identified): number {
  return keyOf(a.id) < keyOf(b.id) ? -1 : 1;
}
