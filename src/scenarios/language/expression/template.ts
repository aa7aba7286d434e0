import type { Method } from '../../../csi/rpcs';
import type { Scope, Template } from '../../model';
import { failed, failure, type Parsed, type ParseFailure } from '../parsed';
import type { Node } from './ast';
import { checkPaths } from './check';
import { compile } from './evaluate';
import { parseExpression } from './parser';

/** A status message travels in a header: 8 KiB with everything else beside it is what every client takes. */
const MAX_RENDERED = 2000;

type Part = string | { readonly node: Node; readonly offset: number };

export interface ParsedTemplate {
  readonly source: string;
  readonly parts: readonly Part[];
}

/** Text with `${expression}` in it; `$${` stands for `${`. */
export function parseTemplate(source: string): Parsed<ParsedTemplate> {
  if (source.length > MAX_RENDERED)
    return failure(`expected a message of at most ${MAX_RENDERED} characters, found ${source.length}`);
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
    renderers
      .map((renderer) => renderer(scope))
      .join('')
      .slice(0, MAX_RENDERED);
  return { template: { source, render }, failures };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
