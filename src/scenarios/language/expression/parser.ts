import { SCOPE_ROOTS } from '../../model';
import { failed, failure, type Parsed, type ParseFailure } from '../parsed';
import { compileRegex } from '../patterns';
import { oneOf } from '../show';
import { didYouMean } from '../suggest';
import type { Node } from './ast';
import { FUNCTIONS } from './functions';
import { lex, type Token } from './lexer';

const MAX_LENGTH = 2000;
const MAX_DEPTH = 50;

/** Operators from the loosest to the tightest; each row binds to the left. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

/** Syntax, roots and functions are checked here; paths below a root, where the methods are known (check.ts). */
export function parseExpression(text: string): Parsed<Node> {
  if (text.length > MAX_LENGTH)
    return failure(`expected an expression of at most ${MAX_LENGTH} characters, found ${text.length}`);
  if (text.trim() === '') return failure('expected an expression, found nothing');
  const tokens = lex(text);
  if (failed(tokens)) return tokens;
  try {
    return { value: new Parser(tokens.value).whole() };
  } catch (error) {
    if (error instanceof Unparsable) return error.failure;
    throw error;
  }
}

class Unparsable extends Error {
  constructor(readonly failure: ParseFailure) {
    super(failure.message);
  }
}

function refuse(message: string, offset: number): never {
  throw new Unparsable(failure(message, offset));
}

class Parser {
  private position = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  whole(): Node {
    const node = this.conditional();
    const { kind, text, offset } = this.next;
    if (kind !== 'end') refuse(`expected an operator or the end, found ${JSON.stringify(text)}`, offset);
    return node;
  }

  private conditional(): Node {
    if (++this.depth > MAX_DEPTH) refuse(`nested deeper than ${MAX_DEPTH} levels`, this.next.offset);
    const test = this.binary(0);
    const { offset } = this.next;
    let node = test;
    if (this.took('?')) {
      const yes = this.conditional();
      this.expect(':');
      node = { kind: 'conditional', test, yes, no: this.conditional(), offset };
    }
    this.depth--;
    return node;
  }

  private binary(level: number): Node {
    const operators = LEVELS[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const { kind, text, offset } = this.next;
      if (kind === 'string' || kind === 'number' || !operators.includes(text)) return left;
      this.position++;
      left = { kind: 'binary', operator: text, left, right: this.binary(level + 1), offset };
    }
  }

  private unary(): Node {
    const { text, offset } = this.next;
    if (!this.took('!') && !this.took('-')) return this.postfix();
    if (++this.depth > MAX_DEPTH) refuse(`nested deeper than ${MAX_DEPTH} levels`, offset);
    const operand = this.unary();
    this.depth--;
    return { kind: 'unary', operator: text as '!' | '-', operand, offset };
  }

  private postfix(): Node {
    let node = this.primary();
    for (;;) {
      if (this.took('.')) {
        const { kind, text, offset } = this.next;
        if (kind !== 'name') refuse('expected a name after "."', offset);
        this.position++;
        node = this.took('(')
          ? this.call(text, offset, [node])
          : { kind: 'index', object: node, key: { kind: 'literal', value: text, offset }, offset };
      } else if (this.next.text === '[' && this.took('[')) {
        const key = this.conditional();
        this.expect(']');
        node = { kind: 'index', object: node, key, offset: key.offset };
      } else return node;
    }
  }

  private primary(): Node {
    const token = this.next;
    const { kind, text, offset } = token;
    this.position++;
    if (kind === 'number') return { kind: 'literal', value: token.number ?? 0, offset };
    if (kind === 'string') return { kind: 'literal', value: text, offset };
    if (kind === 'name') return this.named(text, offset);
    if (kind === 'operator' && text === '(') {
      const node = this.conditional();
      this.expect(')');
      return node;
    }
    if (kind === 'operator' && text === '[') return { kind: 'list', items: this.items(']'), offset };
    return refuse(`expected a value, found ${kind === 'end' ? 'the end' : JSON.stringify(text)}`, offset);
  }

  private named(name: string, offset: number): Node {
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true', offset };
    if (name === 'null') return { kind: 'literal', value: null, offset };
    if (this.took('(')) return this.call(name, offset, []);
    if ((SCOPE_ROOTS as readonly string[]).includes(name)) return { kind: 'root', name, offset };
    return refuse(
      `unknown name "${name}"${didYouMean(name, SCOPE_ROOTS)}: expected ${oneOf(SCOPE_ROOTS)}`,
      offset,
    );
  }

  private call(name: string, offset: number, receiver: readonly Node[]): Node {
    const known = FUNCTIONS.get(name);
    if (known === undefined)
      return refuse(`unknown function "${name}"${didYouMean(name, FUNCTIONS.keys())}`, offset);
    const args = [...receiver, ...this.items(')')];
    if (args.length !== known.arity)
      return refuse(
        `${name}() takes ${known.arity === 1 ? 'one value' : 'two values'}, found ${args.length}`,
        offset,
      );
    const [, second] = args;
    if (name === 'has' && args[0]?.kind !== 'index')
      return refuse('has() takes a path such as request.volume_context["k"]', offset);
    if (name === 'matches') {
      if (second?.kind !== 'literal' || typeof second.value !== 'string')
        return refuse('matches() takes its regular expression as a text in quotes', second?.offset ?? offset);
      const compiled = compileRegex(second.value);
      if (failed(compiled)) return refuse(compiled.message, second.offset + 1 + (compiled.offset ?? 0));
    }
    return { kind: 'call', name, args, offset };
  }

  private items(close: string): Node[] {
    const items: Node[] = [];
    if (this.took(close)) return items;
    do items.push(this.conditional());
    while (this.took(','));
    this.expect(close);
    return items;
  }

  private get next(): Token {
    // The last token is the end, and nothing reads past it.
    return this.tokens[Math.min(this.position, this.tokens.length - 1)] as Token;
  }

  private took(operator: string): boolean {
    if (this.next.kind !== 'operator' || this.next.text !== operator) return false;
    this.position++;
    return true;
  }

  private expect(operator: string): void {
    const { kind, text, offset } = this.next;
    if (!this.took(operator))
      refuse(`expected "${operator}", found ${kind === 'end' ? 'the end' : JSON.stringify(text)}`, offset);
  }
}
