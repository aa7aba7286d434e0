import { verdict } from './support';

const methods = ['CreateVolume', 'CreateSnapshot', 'CreateVolumeGroupSnapshot'] as const;

describe.each(methods)('%s: name', (method) => {
  test.each([
    ['TAB, LF and CR', 'a\tb\nc\rd'],
    ['emoji and combining marks', '😀 e\u0301'],
    ['a space and U+00A0, right after the banned ranges', ' \u00A0'],
    ['~, right before U+007F', '~'],
    ['dots and slashes', '../../etc/passwd'],
  ])('may hold %s', (_, name) => {
    expect(verdict(method, { name })).toBe('OK');
  });

  const banned = [...range(0x00, 0x08), 0x0b, 0x0c, ...range(0x0e, 0x1f), ...range(0x7f, 0x9f)];

  test('may hold none of the banned control characters', () => {
    const said = banned.map((point) => verdict(method, { name: `ab${String.fromCodePoint(point)}` }));
    const expected = banned.map((point) => {
      const hex = point.toString(16).toUpperCase().padStart(4, '0');
      return `INVALID_ARGUMENT name: expected a name without control characters (TAB, LF and CR are allowed); found U+${hex} at character 3`;
    });
    expect(said).toEqual(expected);
  });

  test('may hold every other character below U+0100', () => {
    const allowed = range(0x00, 0xff).filter((point) => !banned.includes(point));
    expect(allowed.map((point) => verdict(method, { name: String.fromCodePoint(point) }))).toEqual(
      allowed.map(() => 'OK'),
    );
  });
});

test('ids are not names: the driver chose them, and no character is banned', () => {
  expect(verdict('DeleteVolume', { volume_id: 'a\u0001b' })).toBe('OK');
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
