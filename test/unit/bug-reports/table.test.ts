import * as fs from 'node:fs';
import * as path from 'node:path';

const ROOT = path.join(__dirname, '../../..');
const table = fs.readFileSync(path.join(ROOT, 'docs/bug-reports.md'), 'utf8');
const rows = [...table.matchAll(/^\| \[(BL-\d+)\]\((\S+)\) \| (.+) \| (.+) \| (.+) \|$/gm)].map(
  ([, id = '', , , , proof = '']) => ({ id, proof }),
);
const proven = rows.flatMap(({ id, proof }) => {
  const found = /^`(test\/\S+\.test\.ts)`: (.+)$/.exec(proof);
  return found ? [{ id, file: found[1] as string, text: found[2] as string }] : [];
});

it('every row names a test, or says why there is none', () => {
  expect(rows.length).toBeGreaterThan(100);
  expect(rows).toHaveLength(table.match(/^\| \[?BL-/gm)?.length ?? 0);
  const without = rows.filter(({ id }) => !proven.some((one) => one.id === id));
  expect(without.filter(({ proof }) => !/^—: ./.test(proof))).toEqual([]);
});

it('each report once', () => {
  const ids = rows.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

it.each(proven)('$id: $file has such a test', ({ file, text }) => {
  expect(fs.readFileSync(path.join(ROOT, file), 'utf8')).toContain(text.replaceAll('\\|', '|'));
});
