import { parseQuantity } from '../../util/quantity';
import type { CountTest, OrdinalTest, QuantityTest } from '../model';
import { failure, type Parsed } from './parsed';
import { quote, show } from './show';

/** `50%` or a number from 0 to 1, as 0 to 1. */
export function parseShare(value: string | number): Parsed<number> {
  const percent = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(String(value));
  const share = percent !== null ? Number(percent[1]) / 100 : typeof value === 'number' ? value : Number.NaN;
  if (share >= 0 && share <= 1) return { value: share };
  return failure(`expected a share such as 0.5 or 50%, found ${show(value)}`);
}

export interface Ordinals extends OrdinalTest {
  /** The last ordinal that can hold; Infinity for `3..`. */
  readonly max: number;
  /** How many ordinals hold; Infinity for `3..`. */
  readonly size: number;
}

/** `3`, `3..`, `2..5` or a list of them. */
export function parseOrdinals(value: string | number | readonly (string | number)[]): Parsed<Ordinals> {
  const ranges: [number, number][] = [];
  const items = typeof value === 'object' ? value : [value];
  if (items.length === 0) return failure('expected call numbers such as 1 or [1, 2], found an empty list');
  for (const item of items) {
    const range = ordinalRange(item);
    if (range === undefined)
      return failure(
        `expected a call number such as 3, "3.." or "2..5" (the first is 1), found ${show(item)}`,
      );
    ranges.push(range);
  }
  const size = ranges.reduce((sum, [from, to]) => sum + (to - from + 1), 0);
  return {
    value: {
      source: items.join(', '),
      test: (ordinal) => ranges.some(([from, to]) => ordinal >= from && ordinal <= to),
      max: Math.max(...ranges.map(([, to]) => to)),
      size,
    },
  };
}

function ordinalRange(item: string | number): [number, number] | undefined {
  const match = /^(\d{1,9})(\.\.(\d{1,9})?)?$/.exec(String(item));
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to =
    match[2] === undefined ? from : match[3] === undefined ? Number.POSITIVE_INFINITY : Number(match[3]);
  return from >= 1 && to >= from ? [from, to] : undefined;
}

/** `2`, `>=2`, `<=3`, `!=0`, `2..4`, `2..`. */
export function parseCount(value: string | number): Parsed<CountTest> {
  const source = String(value);
  const range = /^(\d{1,9})\.\.(\d{1,9})?$/.exec(source);
  if (range !== null) {
    const from = Number(range[1]);
    const to = range[2] === undefined ? Number.POSITIVE_INFINITY : Number(range[2]);
    if (to < from) return failure(`expected a range that grows such as "2..4", found ${quote(source)}`);
    return { value: { source, test: (count) => count >= from && count <= to, canGrowTrue: true } };
  }
  const match = /^(>=|<=|==|!=|=|>|<)?\s*(\d{1,9})$/.exec(source);
  if (match === null)
    return failure(`expected a count such as 2, ">=2", "<=3" or "2..4", found ${show(value)}`);
  const wanted = Number(match[2]);
  const operator = match[1] ?? '=';
  const test = comparisons[operator] as (order: number) => boolean;
  return {
    value: { source, test: (count) => test(count - wanted), canGrowTrue: !operator.startsWith('<') },
  };
}

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '==': (order) => order === 0,
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
};

/** `>=1Gi`, `<500M`, `1Gi..2Gi`, `1Gi`. An unknown capacity holds for none of them. */
export function parseQuantityTest(value: string | number): Parsed<QuantityTest> {
  const source = String(value);
  const expected = failure(`expected a size such as 1Gi, ">=1Gi" or "1Gi..5Gi", found ${show(value)}`);
  const [low, high, ...more] = source.split('..');
  if (high !== undefined) {
    const from = parseQuantity(low ?? '');
    const to = parseQuantity(high);
    if (from === undefined || to === undefined || more.length > 0 || to < from) return expected;
    return { value: { source, test: (bytes) => bytes !== undefined && bytes >= from && bytes <= to } };
  }
  const match = /^(>=|<=|==|!=|=|>|<)?\s*(\S+)$/.exec(source);
  const wanted = parseQuantity(match?.[2] ?? '');
  if (match === null || wanted === undefined) return expected;
  const test = comparisons[match[1] ?? '='] as (order: number) => boolean;
  return {
    value: {
      source,
      test: (bytes) => bytes !== undefined && test(bytes < wanted ? -1 : bytes > wanted ? 1 : 0),
    },
  };
}
