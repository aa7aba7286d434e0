import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { parseRecord, readRecord } from '../../../src/volumes/record-file';

interface Thing {
  version: number;
  id: string;
}

const folder = fs.mkdtempSync(path.join(tmpdir(), 'record-file-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

describe('parseRecord', () => {
  it('reads a record, with what a later version may have added', () => {
    const text = '{"version": 1, "id": "a", "more": true}\n';
    expect(parseRecord<Thing>('f', text, ['id'])).toEqual({ version: 1, id: 'a', more: true });
  });

  it.each([
    ['nothing', '', /found an empty file/],
    ['half of it', '{"version": 1, "id": "a', /23 characters that are no JSON/],
    ['zeros, as after a power loss', '\0'.repeat(40), /40 characters that are no JSON/],
    ['a list', '[]', /JSON that is no object/],
    ['null', 'null', /JSON that is no object/],
    ['a number', '7', /JSON that is no object/],
    ['another version', '{"version": 2, "id": "a"}', /version 2/],
    ['no version', '{"id": "a"}', /version undefined/],
    ['a field less', '{"version": 1}', /no "id" in it/],
  ])('refuses %s, and says where and what to do', (_what, text, found) => {
    const parse = () => parseRecord<Thing>('/data/thing.json', text, ['id']);
    expect(parse).toThrow(expect.objectContaining({ code: Code.INTERNAL }));
    expect(parse).toThrow(/the record \/data\/thing\.json is not usable: .*restore the file/);
    expect(parse).toThrow(found);
  });
});

describe('readRecord', () => {
  it('tells a file that is not there from one that cannot be read', () => {
    expect(readRecord<Thing>(path.join(folder, 'none.json'), ['id'])).toBeUndefined();
    expect(() => readRecord<Thing>(folder, ['id'])).toThrow(/EISDIR on reading it/);
  });
});
