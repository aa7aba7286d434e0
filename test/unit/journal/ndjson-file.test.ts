import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { NdjsonFile } from '../../../src/journal/ndjson-file';
import { silentLog } from '../../support/driver';

let folder: string;
let file: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'ndjson-'));
  file = path.join(folder, 'journal', 'process.ndjson');
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

async function write(lines: string[], maxBytes?: number): Promise<void> {
  const journal = new NdjsonFile(file, silentLog, maxBytes);
  await journal.open();
  for (const line of lines) journal.write(line);
  await journal.close();
}

/** The entries that a reader finds: it skips what is no JSON. */
const read = (name = file) =>
  fs
    .readFileSync(name, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });

describe('NdjsonFile', () => {
  it('makes its folder, and a file that only we can read', async () => {
    await write(['1', '2']);
    expect(fs.readFileSync(file, 'utf8')).toBe('1\n2\n');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  it('goes on behind what is there', async () => {
    await write(['1']);
    await write(['2']);
    expect(fs.readFileSync(file, 'utf8')).toBe('1\n2\n');
  });

  it.each(['{"half":', '7'])('lets the torn last line %s swallow nothing', async (torn) => {
    await write(['1']);
    fs.appendFileSync(file, torn);
    await write(['{"next":1}', '2']);
    expect(read()).toEqual(expect.arrayContaining([1, { next: 1 }, 2]));
    expect(fs.readFileSync(file, 'utf8')).toMatch(/\n\{"next":1\}\n2\n$/);
  });

  it('leaves a file alone that ends as it should, also when nothing is written', async () => {
    await write(['1']);
    await write([]);
    expect(fs.readFileSync(file, 'utf8')).toBe('1\n');
  });

  it('begins a new file when one is full, and keeps the one before', async () => {
    for (const lines of [['11111', '22222'], ['33333', '44444'], ['5']]) await write(lines, 10);
    expect(read(`${file}.1`)).toEqual([33333, 44444]);
    expect(read()).toEqual([5]);
  });

  it('knows how full a file is that an earlier process wrote', async () => {
    await write(['1111111111'], 10_000);
    await write(['2'], 10);
    expect(read(`${file}.1`)).toEqual([1111111111, 2]);
    expect(fs.readFileSync(file, 'utf8')).toBe('');
  });

  it('writes what came in one turn, and what comes while it writes, in order', async () => {
    const journal = new NdjsonFile(file, silentLog);
    await journal.open();
    const expected: number[] = [];
    for (let i = 0; i < 1_000; i++) {
      journal.write(`${i}`);
      expected.push(i);
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await journal.close();
    expect(read()).toEqual(expected);
  });

  it('says once that it cannot write, and does not fail for it', async () => {
    if (!fs.existsSync('/dev/full')) return;
    const said: string[] = [];
    const log = { ...silentLog, error: (_fields: object, message: string) => said.push(message) };
    fs.mkdirSync(path.dirname(file));
    fs.symlinkSync('/dev/full', file);
    const journal = new NdjsonFile(file, log);
    await journal.open();
    for (const line of ['1', '2', '3']) {
      journal.write(line);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
    await journal.close();
    expect(said).toEqual(['the journal cannot be written']);
  });
});
