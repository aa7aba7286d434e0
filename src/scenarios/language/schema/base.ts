import { z } from 'zod';
import { parseDuration } from '../durations';
import { failed, type Parsed } from '../parsed';
import { parsePatterns } from '../patterns';
import { quote, show } from '../show';
import { didYouMean } from '../suggest';

/** The end of a zod error setting: `expected a duration such as 5s, found 5`. */
export const expected =
  (what: string) =>
  (issue: { input?: unknown }): string =>
    `expected ${what}, found ${show(issue.input)}`;

/**
 * A map with these keys and no others. One line of the message for each key that is not known, in their order.
 * `elsewhere`: keys that people look for here, and the key under which they are.
 */
export function shape<Shape extends z.ZodRawShape>(
  fields: Shape,
  what = 'a map',
  elsewhere: ReadonlyMap<string, string> = new Map(),
) {
  const known = [...Object.keys(fields), ...elsewhere.keys()];
  const explain = (key: string): string => {
    const place = elsewhere.get(key);
    return `unknown key ${quote(key)}${place === undefined ? didYouMean(key, known) : `: it belongs under ${place}`}`;
  };
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? (issue.keys as string[]).map(explain).join('\n')
        : expected(what)(issue),
  });
}

/** What a leaf is made of; its own failure becomes the issue, at the character where it is. */
export function parsedBy<Written, Output>(
  input: z.ZodType<Written>,
  parse: (value: Written) => Parsed<Output>,
) {
  return input.transform((value, context): Output => {
    const parsed = parse(value);
    if (!failed(parsed)) return parsed.value;
    context.addIssue({ code: 'custom', message: parsed.message, params: { offset: parsed.offset } });
    return z.NEVER;
  });
}

export const text = (what: string) => z.string({ error: expected(what) });

export const flag = z.boolean({ error: expected('true or false') });

export function whole(min: number, what = min > 0 ? `a whole number from ${min} on` : 'a whole number') {
  return z
    .number({ error: expected(what) })
    .int({ error: expected(what) })
    .min(min, { error: expected(what) })
    .max(Number.MAX_SAFE_INTEGER, { error: expected(what) });
}

export const duration = parsedBy(text('a duration such as 5s'), parseDuration).meta({
  id: 'Duration',
  description: 'A duration such as 500ms, 5s, 2m, 1h or 1m30s.',
});

export const positiveDuration = parsedBy(text('a duration such as 5s'), (value) => {
  const parsed = parseDuration(value);
  return !failed(parsed) && parsed.value === 0 ? { message: 'expected more than 0s' } : parsed;
});

/** One of some names, with a suggestion for what is none of them. */
export function nameOf<const Names extends readonly [string, ...string[]]>(names: Names, what: string) {
  return z.enum(names, {
    error: (issue) => {
      const hint = typeof issue.input === 'string' ? didYouMean(issue.input, names) : '';
      return `expected ${what}, found ${show(issue.input)}${hint}`;
    },
  });
}

export function listOf<Item extends z.ZodType>(item: Item, what: string) {
  return z.array(item, { error: expected(what) }).min(1, { error: expected(what) });
}

/** YAML makes numbers and booleans of what is text to Kubernetes. */
export const scalarText = z
  .union([z.string(), z.number(), z.boolean()], { error: expected('a text') })
  .transform(String);

const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: expected('a pattern such as "data-*"'),
});

export const patternSources = z
  .union([scalar, listOf(scalar, 'a list of patterns')], {
    error: expected('a pattern or a list of patterns'),
  })
  .transform((value) => (Array.isArray(value) ? value : [value]).map(String));

/** A glob, `/re/`, `!x`, or a list of them. */
export const patterns = parsedBy(patternSources, parsePatterns).meta({
  id: 'Patterns',
  description:
    'A glob (* ? |), /re/ or /re/i, one of them after ! for not, or a list of which one has to match.',
});

export const mapOf = <Value extends z.ZodType>(value: Value, what: string) =>
  z.record(z.string(), value, { error: expected(what) });
