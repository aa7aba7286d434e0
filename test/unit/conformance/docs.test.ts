import * as fs from 'node:fs';
import * as path from 'node:path';
import { allCases } from '../../../src/conformance/cases';
import { checkHints } from '../../../src/conformance/hints';

const text = fs.readFileSync(path.join(__dirname, '../../../docs/conformance.md'), 'utf8');

describe('docs/conformance.md', () => {
  test('its table has every case, as the case itself tells it, and no other', () => {
    const rows = text.split('\n').filter((line) => /^\| [A-Z]+\d+ \|/.test(line));
    const told = rows.map((row) =>
      row
        .split(/(?<!\\) \| /)
        .slice(0, 4)
        .join(' | '),
    );
    const cell = (words: string) => words.replaceAll('|', '\\|');
    expect(told).toEqual(
      allCases.map(({ id, rpc, level, title }) => `| ${id} | ${rpc} | ${level} | ${cell(title)}`),
    );
  });

  test('its closing lines are the sums of its columns', () => {
    const rows = text.split('\n').filter((line) => /^\| [A-Z]+\d+ \|/.test(line));
    const sums = [0, 1, 2].map((column) => {
      const cells = rows.map((row) => row.replace(/ \|$/, '').split(' | ').slice(-3)[column] ?? '');
      const count = (word: string) => cells.filter((cell) => cell === word).length;
      return `${count('passed')} passed, ${count('failed')} failed, ${count('n/a')} not applicable`;
    });
    for (const sum of sums) expect(text).toContain(sum);
  });

  test('every hint is told, and no other', () => {
    const hints = text.slice(text.indexOf('| hint |'));
    const told = [...hints.matchAll(/^\| `(\w+)` \| .* \|$/gm)].map(([, name = '']) => name);
    expect(() => checkHints({ none: 1 }, 'x')).toThrow(
      new Error(`x: unknown hint "none"; known are ${told.join(', ')}`),
    );
  });
});
