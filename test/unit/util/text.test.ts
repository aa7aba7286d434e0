import { printable, table } from '../../../src/util/text';

it('a column is as wide as its widest cell, and no line ends in blanks', () => {
  expect(
    table(
      ['A', 'LONG'],
      [
        ['wider', ''],
        ['x', 'y'],
      ],
    ),
  ).toBe('A      LONG\nwider\nx      y\n');
});

it.each([
  ['a\nb', 'a\\u000ab'],
  ['\u001b[31m', '\\u001b[31m'],
  ['\u202egpj', '\\u202egpj'],
  ['\u{e0041}', '\\u{e0041}'],
  ['Straße 日本', 'Straße 日本'],
])('%j is shown as %s', (text, shown) => {
  expect(printable(text)).toBe(shown);
});
