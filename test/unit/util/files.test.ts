import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import {
  ensureFolder,
  errnoOf,
  namesIn,
  readIfThere,
  removeFile,
  removeFolder,
  syncFolder,
  writeFileAtomic,
} from '../../../src/util/files';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'files-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));
const at = (...names: string[]) => path.join(folder, ...names);

describe.each(['process', 'durable'] as const)('writeFileAtomic (%s)', (durability) => {
  it('makes and replaces a file that only we can read, and leaves nothing beside it', async () => {
    for (const text of ['first, and longer', 'second']) {
      await writeFileAtomic(at('f'), text, durability);
      expect(fs.readFileSync(at('f'), 'utf8')).toBe(text);
    }
    expect(fs.readdirSync(folder)).toEqual(['f']);
    expect(fs.statSync(at('f')).mode & 0o777).toBe(0o600);
  });

  it('leaves the old file, and nothing else, when it fails', async () => {
    fs.mkdirSync(at('f'));
    fs.writeFileSync(at('f', 'inside'), '');
    await expect(writeFileAtomic(at('f'), 'text', durability)).rejects.toThrow();
    expect(fs.readdirSync(folder)).toEqual(['f']);
    await expect(writeFileAtomic(at('none', 'f'), 'text', durability)).rejects.toThrow('ENOENT');
  });

  it('goes over what a killed process left', async () => {
    fs.writeFileSync(at('f.tmp'), 'half of something lon');
    await writeFileAtomic(at('f'), 'whole', durability);
    expect(fs.readdirSync(folder)).toEqual(['f']);
    expect(fs.readFileSync(at('f'), 'utf8')).toBe('whole');
  });
});

it('reads, lists and removes what is not there as nothing', async () => {
  expect(readIfThere(at('none'))).toBeUndefined();
  expect(namesIn(at('none'))).toEqual([]);
  removeFile(at('none'));
  await removeFolder(at('none'));
  expect(() => readIfThere(folder)).toThrow('EISDIR');
  expect(() => removeFile(folder)).toThrow();
});

it('removes a folder with all in it, and nothing that a link leads to', async () => {
  fs.mkdirSync(at('kept'));
  fs.writeFileSync(at('kept', 'file'), 'x');
  fs.mkdirSync(at('gone', 'deep', 'deeper'), { recursive: true });
  fs.writeFileSync(at('gone', 'deep', 'file'), 'x');
  fs.symlinkSync(at('kept'), at('gone', 'link'));
  await removeFolder(at('gone'));
  expect(fs.readdirSync(folder)).toEqual(['kept']);
  expect(fs.readdirSync(at('kept'))).toEqual(['file']);
});

it('makes a folder and those above it, and is content with one that is there', () => {
  ensureFolder(at('a', 'b', 'c'), 0o700);
  ensureFolder(at('a', 'b', 'c'), 0o700);
  expect(fs.statSync(at('a', 'b', 'c')).mode & 0o777).toBe(0o700);
  fs.writeFileSync(at('file'), '');
  expect(() => ensureFolder(at('file'))).toThrow('EEXIST');
  expect(() => ensureFolder(at('file', 'x'))).toThrow('ENOTDIR');
});

it('syncs folders only', async () => {
  await syncFolder(folder);
  fs.writeFileSync(at('file'), '');
  await expect(syncFolder(at('file'))).rejects.toThrow('ENOTDIR');
});

it.each([
  [Object.assign(new Error(''), { code: 'ENOENT' }), 'ENOENT'],
  [{ errno: 'EBUSY' }, 'EBUSY'],
  [{ errno: -2 }, undefined],
  [new Error('x'), undefined],
  ['ENOENT', undefined],
  [null, undefined],
])('the errno of %p is %p', (error, errno) => {
  expect(errnoOf(error)).toBe(errno);
});
