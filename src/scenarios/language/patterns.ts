import { RE2JS } from 're2js';
import type { Pattern, Patterns } from '../model';
import { globTest, isLiteral, unescaped } from './globs';
import { failed, failure, type Parsed } from './parsed';

const MAX_PATTERN = 1000;
const MAX_PATTERNS = 100;

/**
 * `data-*` (a glob with `*`, `?`, `|` between alternatives and `\` before a character that stands for itself),
 * `/re/` or `/re/i` (RE2 syntax, found anywhere, in time linear in the text), or one of them after `!`.
 */
export function parsePattern(source: string): Parsed<Pattern> {
  if (source.length > MAX_PATTERN)
    return failure(`expected a pattern of at most ${MAX_PATTERN} characters, found ${source.length}`);
  const negated = source.startsWith('!');
  const start = negated ? 1 : 0;
  const body = source.slice(start);
  if (negated && body === '') return failure('expected a pattern after "!"', 1);
  const positive = body.startsWith('/') ? regexTest(body, start) : { value: globTest(body) };
  if (failed(positive)) return positive;
  const holds = positive.value;
  return {
    value: {
      source,
      test: negated
        ? (value) => value === undefined || !holds(value)
        : (value) => value !== undefined && holds(value),
    },
  };
}

/** A path such as /dev/loop0 begins like a regular expression and is none: it does not end like one. */
function regexTest(body: string, start: number): Parsed<(value: string) => boolean> {
  const match = /^\/(.+)\/([a-z]*)$/s.exec(body);
  if (match === null) return { value: globTest(body) };
  const [, expression = '', flags = ''] = match;
  if (flags !== '' && flags !== 'i')
    return failure(`expected /re/ or /re/i, found the flags "${flags}"`, start + expression.length + 2);
  const compiled = compileRegex(expression, flags === 'i');
  if (failed(compiled)) return failure(compiled.message, start + 1 + (compiled.offset ?? 0));
  return compiled;
}

/** RE2 syntax; the match may be anywhere in the text. */
export function compileRegex(expression: string, ignoreCase = false): Parsed<(value: string) => boolean> {
  if (expression.length > MAX_PATTERN)
    return failure(`expected a regular expression of at most ${MAX_PATTERN} characters`);
  try {
    const compiled = RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const beginning = ignoreCase ? '' : literalBeginning(expression);
    return { value: (value) => value.startsWith(beginning) && compiled.matcher(value).find() };
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '').split('\n')[0] ?? '';
    const fragment = /`(.*)`$/s.exec(reason)?.[1] ?? '';
    const offset = fragment === '' ? 0 : Math.max(0, expression.indexOf(fragment));
    return failure(`expected a regular expression in RE2 syntax: ${reason}`, offset);
  }
}

/**
 * What every text begins with that `^…` matches: most texts that do not match do not even begin so, and the beginning
 * costs a hundredth of the automaton. `''` where nothing can be said.
 */
export function literalBeginning(expression: string): string {
  // One of several would do, a group may change the flags, and \Q…\E quotes.
  if (!expression.startsWith('^') || /[|\\]|\(\?/.test(expression)) return '';
  const literal = /^[^.*+?{}()[\]$^]*/.exec(expression.slice(1))?.[0] ?? '';
  // What stands before a quantifier may be there no times.
  const quantified = /[*?{]/.test(expression.charAt(1 + literal.length));
  return quantified ? [...literal].slice(0, -1).join('') : literal;
}

/** One pattern or a list: one of them has to hold, and of negations every one. */
export function combinePatterns(patterns: readonly Pattern[]): Patterns {
  const [only] = patterns;
  const source = patterns.map((pattern) => pattern.source).join(', ');
  if (patterns.length === 1 && only !== undefined) return { patterns, source, test: only.test };
  const negations = patterns.filter((pattern) => pattern.source.startsWith('!'));
  const others = patterns.filter((pattern) => !pattern.source.startsWith('!'));
  return {
    patterns,
    source,
    test: (value) =>
      negations.every((pattern) => pattern.test(value)) &&
      (others.length === 0 || others.some((pattern) => pattern.test(value))),
  };
}

export function parsePatterns(sources: readonly string[]): Parsed<Patterns> {
  if (sources.length > MAX_PATTERNS)
    return failure(`expected at most ${MAX_PATTERNS} patterns, found ${sources.length}`);
  const patterns: Pattern[] = [];
  for (const source of sources) {
    const parsed = parsePattern(source);
    if (failed(parsed)) return parsed;
    patterns.push(parsed.value);
  }
  return { value: combinePatterns(patterns) };
}

/** The one text that a pattern holds for, where there is only one: to check it against the names there are. */
export function literalOf(pattern: Pattern): string | undefined {
  const body = pattern.source.replace(/^!/, '');
  return isLiteral(body) && !/^\/.+\/[a-z]*$/s.test(body) ? unescaped(body) : undefined;
}
