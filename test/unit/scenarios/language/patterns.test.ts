import fc from 'fast-check';
import { RE2JS } from 're2js';
import { globTest } from '../../../../src/scenarios/language/globs';
import { failed } from '../../../../src/scenarios/language/parsed';
import { compileRegex, literalBeginning, parsePatterns } from '../../../../src/scenarios/language/patterns';

function holds(value: string | undefined, ...sources: string[]): boolean {
  const parsed = parsePatterns(sources);
  if (failed(parsed)) throw new Error(parsed.message);
  return parsed.value.test(value);
}

describe('a pattern', () => {
  it.each([
    ['data-0', 'data-0', true],
    ['data-0', 'data-00', false],
    ['data-*', 'data-', true],
    ['data-*', 'adata-0', false],
    ['d?ta', 'data', true],
    ['d?ta', 'dta', false],
    ['*special device * does not exist*', 'mount: special device /dev/x does not exist.', true],
    ['a|b*', 'bcd', true],
    ['a|b*', 'ab', false],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['a\\|b', 'a|b', true],
    ['/^vol-\\d+$/', 'vol-12', true],
    ['/vol/', 'my-vol-12', true],
    ['/VOL/i', 'vol', true],
    ['/VOL/', 'vol', false],
    ['/dev/loop0', '/dev/loop0', true],
    ['/dev/*', '/dev/loop0', true],
    ['!final', 'final', false],
    ['!final', 'other', true],
    ['!/^a/', 'abc', false],
    ['', '', true],
    ['', 'a', false],
  ])('%s of %s: %s', (pattern, value, expected) => {
    expect(holds(value, pattern)).toBe(expected);
  });

  it('holds for nothing that is absent, but as a negation', () => {
    expect(holds(undefined, '*')).toBe(false);
    expect(holds(undefined, '!a')).toBe(true);
  });

  it('of a list: one of them, and every negation', () => {
    expect(holds('a', 'a', 'b')).toBe(true);
    expect(holds('b', 'a', 'b')).toBe(true);
    expect(holds('c', 'a', 'b')).toBe(false);
    expect(holds('ab', 'a*', '!*b')).toBe(false);
    expect(holds('ac', 'a*', '!*b')).toBe(true);
    expect(holds('x', '!a', '!b')).toBe(true);
    expect(holds('b', '!a', '!b')).toBe(false);
  });

  it('says from which character on it is wrong', () => {
    expect(parsePatterns(['/ab(c/'])).toEqual({
      message: 'expected a regular expression in RE2 syntax: missing closing ): `ab(c`',
      offset: 1,
    });
    expect(parsePatterns(['/a**/'])).toEqual({
      message: 'expected a regular expression in RE2 syntax: invalid nested repetition operator: `**`',
      offset: 2,
    });
    expect(parsePatterns(['!'])).toEqual({ message: 'expected a pattern after "!"', offset: 1 });
    expect(parsePatterns(['a'.repeat(1001)])).toEqual({
      message: 'expected a pattern of at most 1000 characters, found 1001',
      offset: undefined,
    });
  });

  it('takes no longer for the ones that are made to take long', () => {
    const from = Date.now();
    expect(holds(`${'a'.repeat(20_000)}b`, '/^(a+)+$/')).toBe(false);
    expect(holds('a'.repeat(20_000), `${'*a'.repeat(100)}b`)).toBe(false);
    expect(Date.now() - from).toBeLessThan(3_000);
  });

  it('is what a plain regular expression makes of its stars', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
    fc.assert(
      fc.property(word, text, (glob, value) => {
        const regex = new RegExp(`^${glob.replace(/\*/g, '.*').replace(/\?/g, '.')}$`);
        expect(globTest(glob)(value)).toBe(regex.test(value));
      }),
    );
  });
});

describe('the literal beginning of a regular expression', () => {
  it.each([
    ['^other-2-[0-9]+$', 'other-2-'],
    ['^data', 'data'],
    ['^datas?$', 'data'],
    ['^a{0,2}b', ''],
    ['^ab+', 'ab'],
    ['^a|b', ''],
    ['^(?i)data', ''],
    ['^a😀?', 'a'],
    ['^\\Qa.b\\E', ''],
    ['data', ''],
  ])('of %s is %j', (expression, beginning) => {
    expect(literalBeginning(expression)).toBe(beginning);
  });

  it('begins whatever the expression matches', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '😀',
      '.',
      '*',
      '+',
      '?',
      '{0,1}',
      '(',
      ')',
      '|',
      '[ab]',
      '^',
      '$',
      '(?i)',
      '\\',
    );
    const expressions = fc.array(part, { maxLength: 6 }).map((parts) => `^${parts.join('')}`);
    const texts = fc
      .array(fc.constantFrom('a', 'A', 'b', '😀', ''), { maxLength: 5 })
      .map((parts) => parts.join(''));
    let matched = 0;
    fc.assert(
      fc.property(expressions, texts, (expression, text) => {
        let plain: RE2JS;
        try {
          plain = RE2JS.compile(expression);
        } catch {
          return;
        }
        const compiled = compileRegex(expression);
        if (failed(compiled)) throw new Error(compiled.message);
        const found = plain.matcher(text).find();
        if (found) matched++;
        expect(compiled.value(text)).toBe(found);
      }),
      { numRuns: 5000 },
    );
    expect(matched).toBeGreaterThan(500);
  });
});
