import { fitString, timestamp } from '../../../src/services/replies';

describe('fitString', () => {
  it('leaves what fits', () => {
    for (const text of ['', 'x'.repeat(128), 'é'.repeat(64)]) expect(fitString(text)).toBe(text);
  });

  it.each([
    ['letters', 'x'.repeat(129)],
    ['two bytes each', 'é'.repeat(65)],
    ['three bytes each', '€'.repeat(43)],
    ['four bytes each', '🚀'.repeat(33)],
    ['a letter and then four bytes each', `x${'🚀'.repeat(33)}`],
    ['two letters and then four bytes each', `xx${'🚀'.repeat(33)}`],
    ['a very long text', 'word '.repeat(100_000)],
  ])('cuts %s to 128 bytes at a whole character', (_what, text) => {
    const cut = fitString(text);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(128);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(120);
    expect(cut.endsWith('…')).toBe(true);
    expect(text.startsWith(cut.slice(0, -1))).toBe(true);
    // Half a character would come back as another one.
    expect(Buffer.from(cut).toString()).toBe(cut);
  });
});

test('a timestamp has whole seconds and the rest in nanoseconds', () => {
  expect(timestamp('2026-01-02T03:04:05.678Z')).toEqual({ seconds: '1767323045', nanos: 678_000_000 });
  expect(timestamp('1970-01-01T00:00:00.000Z')).toEqual({ seconds: '0', nanos: 0 });
});
