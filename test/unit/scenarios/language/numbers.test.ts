import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../../../src/scenarios/language';
import { parseCount, parseOrdinals, parseQuantityTest } from '../../../../src/scenarios/language/numbers';
import { failed, type Parsed } from '../../../../src/scenarios/language/parsed';

function value<T>(parsed: Parsed<T>): T {
  if (failed(parsed)) throw new Error(parsed.message);
  return parsed.value;
}

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1m30s', 90_000],
    ['2m2s', 122_000],
    ['1h1ms', 3_600_001],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toEqual({ value: ms });
  });

  it.each(['', '5', '5 s', 's', '5s2m', '-5s', '5d', '1e3s'])('%s is none', (text) => {
    expect(parseDuration(text)).toMatchObject({
      message: `expected a duration such as 5s, found ${JSON.stringify(text)}`,
    });
  });

  it('ends where timers end', () => {
    expect(parseDuration('577h')).toMatchObject({
      message: 'expected a duration of at most 576h, found "577h"',
    });
  });

  it('is the same after it was written and read again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 576 * 3_600_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ value: ms });
      }),
    );
  });
});

describe('call numbers', () => {
  const holding = (written: Parameters<typeof parseOrdinals>[0]) => {
    const { test } = value(parseOrdinals(written));
    return [1, 2, 3, 4, 5, 6].filter(test);
  };

  it('are a number, an open or a closed range, or a list of them', () => {
    expect(holding(3)).toEqual([3]);
    expect(holding('3')).toEqual([3]);
    expect(holding('3..')).toEqual([3, 4, 5, 6]);
    expect(holding('2..4')).toEqual([2, 3, 4]);
    expect(holding([1, '5..'])).toEqual([1, 5, 6]);
  });

  it.each([[0], ['4..2'], ['a'], [1.5], [[]]])('are not %p', (written) => {
    expect(failed(parseOrdinals(written))).toBe(true);
  });
});

describe('a count', () => {
  it.each([
    [2, [2], true],
    ['>=2', [2, 3, 4], true],
    ['>2', [3, 4], true],
    ['<=2', [0, 1, 2], false],
    ['<2', [0, 1], false],
    ['!=0', [1, 2, 3, 4], true],
    ['1..3', [1, 2, 3], true],
    ['3..', [3, 4], true],
  ])('%s', (written, counts, canGrowTrue) => {
    const test = value(parseCount(written));
    expect([0, 1, 2, 3, 4].filter((count) => test.test(count))).toEqual(counts);
    expect(test.canGrowTrue).toBe(canGrowTrue);
  });
});

describe('a size', () => {
  it.each([
    ['>=1Gi', [1024n ** 3n, 2n * 1024n ** 3n]],
    ['<1Gi', [5n]],
    ['1Gi', [1024n ** 3n]],
    ['1..1Gi', [5n, 1024n ** 3n]],
  ])('%s', (written, sizes) => {
    const { test } = value(parseQuantityTest(written));
    expect([5n, 1024n ** 3n, 2n * 1024n ** 3n].filter(test)).toEqual(sizes);
    expect(test(undefined)).toBe(false);
  });
});
