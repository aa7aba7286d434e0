import { failure, type Parsed } from '../parsed';

export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'operator' | 'end';
  /** The name, the operator, or the meaning of a string. */
  readonly text: string;
  /** Of a number: bigint where a number would lose digits. */
  readonly number?: number | bigint;
  /** Into the expression, from 0. */
  readonly offset: number;
}

const TOKEN =
  /\s*(?:([A-Za-z_]\w*)|(\d+\.\d+(?:[eE][+-]?\d+)?|\d+)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(==|!=|<=|>=|&&|\|\||[<>!+\-*/%?:.,()[\]]))/sy;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

export function lex(text: string): Parsed<Token[]> {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  let position = 0;
  while (text.slice(position).trim() !== '') {
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (match === null) return unexpected(text, position);
    const [all, name, digits, string, operator] = match;
    const found = name ?? digits ?? string ?? operator ?? '';
    const offset = position + all.length - found.length;
    position += all.length;
    if (name !== undefined) tokens.push({ kind: 'name', text: name, offset });
    else if (digits !== undefined)
      tokens.push({ kind: 'number', text: digits, number: numberOf(digits), offset });
    else if (string !== undefined) tokens.push({ kind: 'string', text: stringOf(string), offset });
    else tokens.push({ kind: 'operator', text: found, offset });
  }
  tokens.push({ kind: 'end', text: '', offset: text.length });
  return { value: tokens };
}

function unexpected(text: string, position: number): Parsed<Token[]> {
  const offset = position + (/^\s*/.exec(text.slice(position))?.[0].length ?? 0);
  const char = text[offset] ?? '';
  if (char === '"' || char === "'") return failure('a string that is not closed', offset);
  const hint =
    char === '=' ? ' (did you mean "=="?)' : char === '&' || char === '|' ? ' (did you mean && or ||?)' : '';
  return failure(`unexpected ${JSON.stringify(char)}${hint}`, offset);
}

function numberOf(digits: string): number | bigint {
  const value = Number(digits);
  return /^\d+$/.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}

function stringOf(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);
}
