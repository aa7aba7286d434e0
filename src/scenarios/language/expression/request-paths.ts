import { type SchemaField, schemaEnums, schemaMessages } from '../../../csi/gen/schema';

/** A field of a request or of a reply, reached by names, map keys and list positions. */
export type Reached =
  | { readonly kind: 'message'; readonly type: string }
  /** One value, a whole list, a whole map, or an element of either. */
  | { readonly kind: 'field'; readonly field: SchemaField; readonly element: boolean };

export type Walked =
  | { readonly reached: Reached }
  /** `path[at]` names nothing; `candidates` are the names there are. */
  | { readonly at: number; readonly candidates: readonly string[]; readonly problem: 'unknown' | 'secret' };

/** Follows `path` from a message type. `*` stands for a key that only evaluation knows. */
export function walk(typeName: string, path: readonly string[]): Walked {
  let reached: Reached = { kind: 'message', type: typeName };
  for (const [at, name] of path.entries()) {
    if (reached.kind === 'field') {
      if (reached.element || reached.field.label === undefined)
        return { at, candidates: [], problem: 'unknown' };
      if (reached.field.label === 'repeated' && !/^(\d+|\*)$/.test(name))
        return { at, candidates: [], problem: 'unknown' };
      reached = element(reached.field);
      continue;
    }
    const fields: Readonly<Record<string, SchemaField>> = schemaMessages[reached.type]?.fields ?? {};
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return { at, candidates: publicFields(fields), problem: 'unknown' };
    if (field.secret === true) return { at, candidates: [], problem: 'secret' };
    reached = field.label === undefined ? element(field, false) : { kind: 'field', field, element: false };
  }
  return { reached };
}

/** Well-known types travel as one value. */
function element(field: SchemaField, isElement = true): Reached {
  return field.kind === 'message' && !isWellKnown(field.type)
    ? { kind: 'message', type: field.type }
    : { kind: 'field', field, element: isElement };
}

export const isWellKnown = (typeName: string): boolean => typeName.startsWith('google.protobuf.');

export function publicFields(fields: Readonly<Record<string, SchemaField>>): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.secret !== true);
}

/** What proto3 leaves out of a message; undefined where absence says something. */
export function defaultOf(reached: Reached): string | number | boolean | undefined {
  if (reached.kind === 'message' || reached.element || reached.field.label !== undefined) return undefined;
  const { kind, type } = reached.field;
  if (kind === 'message') return undefined;
  if (kind === 'enum') return Object.entries(schemaEnums[type] ?? {}).find(([, number]) => number === 0)?.[0];
  if (type === 'string') return '';
  return type === 'bool' ? false : 0;
}
