import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { largestFile } from '../../../src/host/largest-file';

const GRANULE = 4096n;

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'fake-csi-largest-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

test('a file of that size can be made, and no larger one', () => {
  const largest = largestFile(folder, GRANULE);
  expect(largest % GRANULE).toBe(0n);
  const file = path.join(folder, 'file');
  fs.writeFileSync(file, '');
  fs.truncateSync(file, Number(largest));
  expect(fs.statSync(file, { bigint: true }).size).toBe(largest);
  expect(() => fs.truncateSync(file, Number(largest + GRANULE))).toThrow();
});

test('nothing is left in the folder', () => {
  largestFile(folder, GRANULE);
  expect(fs.readdirSync(folder)).toEqual([]);
});

test('a folder that is not there is an error', () => {
  expect(() => largestFile(path.join(folder, 'absent'), GRANULE)).toThrow('ENOENT');
});
