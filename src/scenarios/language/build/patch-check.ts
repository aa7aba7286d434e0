import { type SchemaField, schemaEnums, schemaMessages } from '../../../csi/gen/schema';
import { isWellKnown, publicFields } from '../expression/request-paths';
import type { Path } from '../positions';
import { oneOf, quote, show } from '../show';
import { didYouMean } from '../suggest';

export interface PatchProblem {
  readonly path: Path;
  readonly message: string;
  /** Is about the key and not about its value. */
  readonly atKey: boolean;
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Holds a merge patch against a message type: fields that there are, values that fit. */
export function checkMerge(typeName: string, patch: object): PatchProblem[] {
  const problems: PatchProblem[] = [];
  const fields: Readonly<Record<string, SchemaField>> = schemaMessages[typeName]?.fields ?? {};
  const arms = new Map<string, string>();
  for (const [name, value] of Object.entries(patch)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const hint = didYouMean(name, publicFields(fields));
      problems.push({
        path: [name],
        message: `unknown field ${quote(name)} of ${shortName(typeName)}${hint}`,
        atKey: true,
      });
      continue;
    }
    if (field.secret === true) {
      problems.push({ path: [name], message: `${name} is secret: a scenario cannot touch it`, atKey: true });
      continue;
    }
    const other = field.oneof !== undefined && value !== null ? arms.get(field.oneof) : undefined;
    if (other !== undefined)
      problems.push({ path: [name], message: `${name} and ${other} exclude each other`, atKey: true });
    if (field.oneof !== undefined && value !== null) arms.set(field.oneof, name);
    problems.push(...below(name, checkValue(field, value)));
  }
  return problems;
}

/** Holds one value against a field. null is back to the default. */
export function checkValue(field: SchemaField, value: unknown): PatchProblem[] {
  if (value === null) return [];
  const { label, ...one } = field;
  if (label === 'repeated') {
    if (!Array.isArray(value)) return [mismatch('a list', value)];
    return value.flatMap((item, index) =>
      below(index, item === null ? [mismatch(expectedOf(one), item)] : checkValue(one, item)),
    );
  }
  if (label === 'map') {
    if (!isMap(value)) return [mismatch('a map', value)];
    return Object.entries(value).flatMap(([key, item]) => below(key, checkValue(one, item)));
  }
  if (field.kind === 'message' && !isWellKnown(field.type))
    return isMap(value) ? checkMerge(field.type, value) : [mismatch('a map', value)];
  if (fits(field, value)) return [];
  const names = field.kind === 'enum' ? Object.keys(schemaEnums[field.type] ?? {}) : [];
  const hint = typeof value === 'string' ? didYouMean(value, names) : '';
  return [mismatch(expectedOf(field), value, hint)];
}

function fits(field: SchemaField, value: unknown): boolean {
  const values = schemaEnums[field.type];
  if (field.kind === 'enum')
    return typeof value === 'number' ? isInt32(value) : Object.hasOwn(values ?? {}, String(value));
  switch (field.type) {
    case 'string':
      return typeof value === 'string';
    case 'bool':
    case 'google.protobuf.BoolValue':
      return typeof value === 'boolean';
    case 'int64':
    case 'google.protobuf.Int64Value':
      return isInt64(value);
    case 'google.protobuf.Timestamp':
      return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));
    default:
      return typeof value === 'number' && isInt32(value);
  }
}

/** RFC 3339, or a day. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2}))?$/;

function isInt32(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 31 - 1;
}

function isInt64(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return false;
  const whole = BigInt(value);
  return whole >= INT64_MIN && whole <= INT64_MAX;
}

function expectedOf(field: SchemaField): string {
  if (field.kind === 'enum') return oneOf(Object.keys(schemaEnums[field.type] ?? {}));
  switch (field.type) {
    case 'string':
      return 'a text (numbers and booleans in quotes)';
    case 'bool':
    case 'google.protobuf.BoolValue':
      return 'true or false';
    case 'google.protobuf.Timestamp':
      return 'a time such as 2026-01-31T12:00:00Z';
    default:
      return field.kind === 'message' && !isWellKnown(field.type) ? 'a map' : 'a whole number';
  }
}

const mismatch = (what: string, value: unknown, hint = ''): PatchProblem => ({
  path: [],
  message: `expected ${what}, found ${show(value)}${hint}`,
  atKey: false,
});

const below = (step: string | number, problems: readonly PatchProblem[]): PatchProblem[] =>
  problems.map((problem) => ({ ...problem, path: [step, ...problem.path] }));

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const shortName = (typeName: string): string => typeName.replace('csi.v1.', '');
