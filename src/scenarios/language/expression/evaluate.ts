import type { Scope } from '../../model';
import { failed } from '../parsed';
import { compileRegex } from '../patterns';
import type { Node } from './ast';
import { arithmetic, compare, equal, negative, own } from './values';

export type Evaluate = (scope: Scope) => unknown;

/** What a path gives where the request has left it out as being at its default: proto3 cannot tell the two apart. */
export type Defaults = ReadonlyMap<Node, string | number | boolean>;

/** Made once, run for every call. The tree was checked: evaluation cannot throw and gives null for what is missing. */
export function compile(node: Node, defaults: Defaults = new Map()): Evaluate {
  const make = (child: Node): Evaluate => compile(child, defaults);
  switch (node.kind) {
    case 'literal':
      return () => node.value;
    case 'root':
      return (scope) => scope[node.name as keyof Scope] ?? null;
    case 'list': {
      const items = node.items.map(make);
      return (scope) => items.map((item) => item(scope));
    }
    case 'index': {
      const [object, key] = [make(node.object), make(node.key)];
      const missing = defaults.get(node) ?? null;
      return (scope) => own(object(scope), key(scope)) ?? missing;
    }
    case 'unary': {
      const operand = make(node.operand);
      return node.operator === '!' ? (scope) => operand(scope) !== true : (scope) => negative(operand(scope));
    }
    case 'conditional': {
      const [test, yes, no] = [make(node.test), make(node.yes), make(node.no)];
      return (scope) => (test(scope) === true ? yes(scope) : no(scope));
    }
    case 'binary':
      return binary(node.operator, make(node.left), make(node.right));
    case 'call':
      return call(node.name, node.args, make);
  }
}

function binary(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  switch (operator) {
    case '||':
      return (scope) => left(scope) === true || right(scope) === true;
    case '&&':
      return (scope) => left(scope) === true && right(scope) === true;
    case '==':
      return (scope) => equal(left(scope), right(scope));
    case '!=':
      return (scope) => !equal(left(scope), right(scope));
    case 'in':
      return (scope) => contains(right(scope), left(scope));
    case '<':
      return (scope) => (compare(left(scope), right(scope)) ?? 0) < 0;
    case '>':
      return (scope) => (compare(left(scope), right(scope)) ?? 0) > 0;
    case '<=':
      return (scope) => (compare(left(scope), right(scope)) ?? 1) <= 0;
    case '>=':
      return (scope) => (compare(left(scope), right(scope)) ?? -1) >= 0;
    default:
      return (scope) => arithmetic(operator, left(scope), right(scope));
  }
}

function call(name: string, args: readonly Node[], make: (node: Node) => Evaluate): Evaluate {
  const [first, second] = args;
  if (first === undefined) return () => null;
  // A field at its default is absent, as has() of proto3 has it: so without the defaults.
  if (name === 'has')
    return (
      (value) => (scope: Scope) =>
        value(scope) !== null
    )(compile(first));
  const value = make(first);
  if (name === 'size') return (scope) => size(value(scope));
  if (name === 'lower') return (scope) => textOf(value(scope))?.toLowerCase() ?? null;
  if (second === undefined) return () => null;
  const argument = make(second);
  if (name === 'contains') return (scope) => contains(value(scope), argument(scope));
  if (name === 'matches') return matcher(value, second);
  const test = name === 'startsWith' ? String.prototype.startsWith : String.prototype.endsWith;
  return (scope) => {
    const [text, part] = [textOf(value(scope)), textOf(argument(scope))];
    return text !== undefined && part !== undefined && test.call(text, part);
  };
}

function matcher(value: Evaluate, literal: Node): Evaluate {
  const expression = literal.kind === 'literal' ? String(literal.value) : '';
  const compiled = compileRegex(expression);
  if (failed(compiled)) return () => null;
  return (scope) => {
    const text = textOf(value(scope));
    return text !== undefined && compiled.value(text);
  };
}

function contains(container: unknown, part: unknown): boolean {
  if (typeof container === 'string') return typeof part === 'string' && container.includes(part);
  if (Array.isArray(container)) return container.some((item) => equal(item, part));
  return own(container, part) !== null;
}

function size(value: unknown): number | null {
  if (value === null || value === undefined) return 0;
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' ? Object.keys(value).length : null;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
