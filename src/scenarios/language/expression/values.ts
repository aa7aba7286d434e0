import { parseQuantity } from '../../../util/quantity';

type Numeric = number | bigint;

/** -1, 0 or 1; undefined for values that have no order. */
export function compare(left: unknown, right: unknown): number | undefined {
  const numbers = numericPair(left, right);
  if (numbers !== undefined) return order(numbers[0], numbers[1]);
  if (typeof left === 'string' && typeof right === 'string') return order(left, right);
  return undefined;
}

export function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const numbers = numericPair(left, right);
  // A number is never the same object as a bigint of its value.
  if (numbers !== undefined) return order(numbers[0], numbers[1]) === 0;
  if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equal(own(left, key), own(right, key)))
  );
}

/** An entry of a map, an element of a list; null when there is none, whatever the prototype says. */
export function own(container: unknown, key: unknown): unknown {
  if (!isContainer(container)) return null;
  if (Array.isArray(container)) return typeof key === 'number' ? (container[key] ?? null) : null;
  const name = String(key);
  return Object.hasOwn(container, name) ? ((container as Record<string, unknown>)[name] ?? null) : null;
}

export function arithmetic(operator: string, left: unknown, right: unknown): unknown {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') return left + right;
  if (operator === '+' && Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  const a = asNumber(left);
  const b = asNumber(right);
  if (a === undefined || b === undefined) return null;
  if (operator === '/') return Number(b) === 0 ? null : Number(a) / Number(b);
  if (operator === '%' && Number(b) === 0) return null;
  return isWhole(a) && isWhole(b)
    ? narrow(whole(operator, BigInt(a), BigInt(b)))
    : fraction(operator, Number(a), Number(b));
}

export function negative(value: unknown): unknown {
  const number = asNumber(value);
  return number === undefined ? null : -number;
}

function whole(operator: string, a: bigint, b: bigint): bigint {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  return operator === '*' ? a * b : a % b;
}

function fraction(operator: string, a: number, b: number): number {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  return operator === '*' ? a * b : a % b;
}

/** int64 travels as a decimal string, sizes are written as quantities: both count as numbers beside a number. */
function numericPair(left: unknown, right: unknown): [Numeric, Numeric] | undefined {
  const counted = [left, right].some((value) => typeof value === 'number' || typeof value === 'bigint');
  if (!counted && !(isQuantityPair(left, right) || isQuantityPair(right, left))) return undefined;
  const a = asNumber(left);
  const b = asNumber(right);
  return a === undefined || b === undefined ? undefined : [a, b];
}

const isQuantityPair = (bytes: unknown, quantity: unknown): boolean =>
  typeof bytes === 'string' &&
  typeof quantity === 'string' &&
  /^\d+$/.test(bytes) &&
  /^[\d.]+([kMGTPE]i?|Ki)$/.test(quantity);

function asNumber(value: unknown): Numeric | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value !== 'string') return undefined;
  return /^-?\d{1,40}$/.test(value) ? narrow(BigInt(value)) : parseQuantity(value);
}

const isWhole = (value: Numeric): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

function narrow(value: bigint): Numeric {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function order<T extends Numeric | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
