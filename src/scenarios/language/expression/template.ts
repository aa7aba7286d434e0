import type { Method } from '../../../csi/rpcs';
import type { Scope, Template } from '../../model';
import { failed, failure, type Parsed, type ParseFailure } from '../parsed';
import type { Node } from './ast';
import { checkPaths } from './check';
import { compile } from './evaluate';
import { parseExpression } from './parser';

/** Of a text as written, and of what is made of it. */
const MAX_LENGTH = 2000;

/**
 * A status message travels in a header, where all but the printable characters of ASCII become `%XX` for each byte: 8 KiB
 * with everything else beside it is what every client takes.
 */
const MAX_IN_HEADER = 6000;

type Part = string | { readonly node: Node; readonly offset: number };

export interface ParsedTemplate {
  readonly source: string;
  readonly parts: readonly Part[];
}

/** Text with `${expression}` in it; `$${` stands for `${`. */
export function parseTemplate(source: string): Parsed<ParsedTemplate> {
  if (source.length > MAX_LENGTH)
    return failure(`expected a message of at most ${MAX_LENGTH} characters, found ${source.length}`);
  const parts: Part[] = [];
  let from = 0;
  for (;;) {
    const open = source.indexOf('${', from);
    if (open < 0) break;
    if (source[open - 1] === '$' && open > from) {
      parts.push(source.slice(from, open - 1), '${');
      from = open + 2;
      continue;
    }
    const close = closing(source, open + 2);
    if (close < 0)
      return failure('expected "}" after "${" (write "$${" for the characters themselves)', open);
    const text = source.slice(open + 2, close);
    if (text.trim() === '')
      return failure(`"$\{}" names nothing: expected an expression such as $\{volume.id}`, open);
    const parsed = parseExpression(text);
    if (failed(parsed)) return failure(parsed.message, open + 2 + (parsed.offset ?? 0));
    parts.push(source.slice(from, open), { node: parsed.value, offset: open + 2 });
    from = close + 1;
  }
  parts.push(source.slice(from));
  return { value: { source, parts } };
}

/** The first `}` outside of quotes. */
function closing(source: string, from: number): number {
  let quote = '';
  for (let i = from; i < source.length; i++) {
    const char = source[i] as string;
    if (quote !== '') {
      if (char === '\\') i++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '}') return i;
  }
  return -1;
}

/** The template for calls of these methods, and what is wrong with its paths. */
export function buildTemplate(
  { source, parts }: ParsedTemplate,
  methods: Iterable<Method>,
): { template: Template; failures: ParseFailure[] } {
  const known = [...methods];
  const failures: ParseFailure[] = [];
  const renderers = parts.map((part): ((scope: Scope) => string) => {
    if (typeof part === 'string') return () => part;
    const checked = checkPaths(part.node, known);
    for (const { message, offset } of checked.failures)
      failures.push(failure(message, part.offset + (offset ?? 0)));
    const evaluate = compile(part.node, checked.defaults);
    return (scope) => textOf(evaluate(scope));
  });
  const render = (scope: Scope): string =>
    cutForHeader(renderers.map((renderer) => renderer(scope)).join(''));
  return { template: { source, render }, failures };
}

function cutForHeader(text: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    bytes += /^[ -$&-~]$/.test(character) ? 1 : 3 * Buffer.byteLength(character);
    if (bytes > MAX_IN_HEADER || kept.length + character.length > MAX_LENGTH) break;
    kept += character;
  }
  return kept;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
