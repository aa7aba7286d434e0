import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { NewEntry } from '../../../src/journal/entry';
import { Journal } from '../../../src/journal/journal';
import { systemClock } from '../../../src/util/clock';

export const EPOCH = Date.parse('2026-01-01T00:00:00.000Z');
export const iso = (ms: number) => new Date(EPOCH + ms).toISOString();

/** A folder of journals, written line by line. */
export class JournalFolder {
  readonly folder = fs.mkdtempSync(path.join(tmpdir(), 'journal-'));
  private readonly journals = new Map<string, { journal: Journal; now: { ms: number } }>();

  /** Appends an entry of `process` at `ms` after EPOCH. */
  add(process: string, ms: number, entry: NewEntry): void {
    let known = this.journals.get(process);
    if (!known) {
      const now = { ms };
      const clock = { ...systemClock, now: () => EPOCH + now.ms, monotonic: () => now.ms };
      const sink = { write: (line: string) => this.raw(process, `${line}\n`) };
      known = { journal: new Journal({ clock, sink }), now };
      this.journals.set(process, known);
    }
    known.now.ms = ms;
    known.journal.append(entry);
  }

  raw(process: string, text: string): void {
    fs.appendFileSync(path.join(this.folder, `${process}.ndjson`), text);
  }

  rotate(process: string): void {
    const file = path.join(this.folder, `${process}.ndjson`);
    fs.renameSync(file, `${file}.1`);
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true });
  }
}

export const received = (call: number, method = 'NodeStageVolume', rest: object = {}): NewEntry =>
  ({ type: 'received', call, method, request: {}, ...rest }) as NewEntry;

export const answered = (call: number, method = 'NodeStageVolume', rest: object = {}): NewEntry =>
  ({
    type: 'answered',
    call,
    method,
    code: 'OK',
    durationMs: 1,
    effects: [],
    fired: [],
    ...rest,
  }) as NewEntry;

export const event = (name: string, details: object = {}): NewEntry => ({
  type: 'event',
  event: name,
  details,
});
