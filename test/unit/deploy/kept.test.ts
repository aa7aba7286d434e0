import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

const mockFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-kept-'));

jest.mock('../../../scripts/lib/cluster/lines.cjs', () => ({
  LINE_NAMES: ['1.32', '1.36'],
  USUAL_LINE: '1.36',
  lineFolder: (line: string, name: string) => `${mockFolder}/${line === '1.36' ? '' : line}/${name}`,
}));

import { everyKept, keep, readKept } from '../../support/golden/kept';

afterAll(() => fs.rmSync(mockFolder, { recursive: true }));
afterEach(() => {
  for (const name of fs.readdirSync(mockFolder)) fs.rmSync(path.join(mockFolder, name), { recursive: true });
});

const see = (version: string, text: string) =>
  keep('golden', { name: 'one', title: 'a case', version, text }, (kept) => kept === text);
const told = () => everyKept('golden').map(({ versions, text }) => [versions.join(), text]);

test('what another line did as the usual one is told once, with both versions', () => {
  see('v1.36.2', 'a\n');
  expect(readKept('golden', 'one', '1.32')).toBeUndefined();
  see('v1.32.13', 'a\n');
  expect(told()).toEqual([['v1.36.2,v1.32.13', 'a\n']]);
  expect(readKept('golden', 'one', '1.32')).toMatchObject({ title: 'a case', text: 'a\n' });
});

test('what it did otherwise has a file of its own, until it does the same', () => {
  see('v1.36.2', 'a\n');
  see('v1.32.13', 'b\n');
  expect(told()).toEqual([
    ['v1.32.13', 'b\n'],
    ['v1.36.2', 'a\n'],
  ]);
  expect(readKept('golden', 'one', '1.32')?.text).toBe('b\n');
  see('v1.32.13', 'a\n');
  expect(told()).toEqual([['v1.36.2,v1.32.13', 'a\n']]);
});

test('when the usual line does another thing, nobody claims that others do it, too', () => {
  see('v1.36.2', 'a\n');
  see('v1.32.13', 'a\n');
  see('v1.36.3', 'a\n');
  expect(told()).toEqual([['v1.36.3,v1.32.13', 'a\n']]);
  see('v1.36.3', 'c\n');
  expect(told()).toEqual([['v1.36.3', 'c\n']]);
  expect(readKept('golden', 'one', '1.32')).toBeUndefined();
});
