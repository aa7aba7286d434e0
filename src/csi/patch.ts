import { type SchemaField, schemaEnums, schemaMessages } from './gen/schema';

type Message = Record<string, unknown>;

/**
 * A copy of a message with a patch merged in, as RFC 7396 merges JSON: maps and messages field by field, lists whole,
 * null back to the default. The message is as the wire layer decodes it (load.ts). The patch is JSON: int64 as number
 * or decimal string, enums by name or number, google.protobuf wrappers and Timestamp as their one value. Setting one
 * arm of a oneof clears the others.
 * @throws Error for what does not fit the message: the scenario language refuses that before.
 */
export function applyMerge(typeName: string, message: object, patch: Readonly<Message>): Message {
  const fields = fieldsOf(typeName);
  const copy: Message = { ...message };
  for (const [name, value] of Object.entries(patch)) {
    const field = fieldOf(typeName, name);
    const current = copy[name];
    if (field.oneof === undefined) {
      put(copy, name, value === null ? defaultOf(field) : merged(field, current, value));
      continue;
    }
    if (value === null && copy[field.oneof] !== name) continue;
    clearOneof(copy, fields, field.oneof);
    if (value !== null) {
      put(copy, name, merged(field, current, value));
      copy[field.oneof] = name;
    }
  }
  return copy;
}

/**
 * A copy of a message with one field set, or back at its default with null. A path goes through messages by field name,
 * through maps by key and through lists by position, and makes what is missing on its way.
 * @throws Error for a path or a value that does not fit the message.
 */
export function setField(
  typeName: string,
  message: object,
  path: readonly string[],
  value: unknown,
): Message {
  const [name, ...rest] = path;
  if (name === undefined) throw new Error(`expected a path into ${typeName}, found nothing`);
  const field = fieldOf(typeName, name);
  const current = (message as Message)[name];
  const cleared = applyMerge(typeName, message, { [name]: null });
  if (rest.length === 0) return value === null ? cleared : applyMerge(typeName, cleared, { [name]: value });
  const next = setBelow(field, current ?? defaultOf(field), rest, value);
  const copy: Message = { ...cleared };
  if (field.oneof !== undefined) clearOneof(copy, fieldsOf(typeName), field.oneof);
  put(copy, name, next);
  if (field.oneof !== undefined) copy[field.oneof] = name;
  return copy;
}

/** A message as decoding gives one with nothing set. */
export function emptyMessage(typeName: string): Message {
  const message: Message = {};
  for (const [name, field] of Object.entries(fieldsOf(typeName)))
    if (field.oneof === undefined) message[name] = defaultOf(field);
  return message;
}

function setBelow(field: SchemaField, current: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (field.label === undefined) {
    if (field.kind !== 'message' || Object.hasOwn(wellKnown, field.type))
      throw new Error(`expected the end of the path, found ${path.join('.')}`);
    return setField(field.type, (current as object | null) ?? emptyMessage(field.type), path, value);
  }
  const { label: _, ...one } = field;
  const element = (old: unknown): unknown =>
    rest.length === 0 ? single(one, undefined, value) : setBelow(one, old ?? defaultOf(one), rest, value);
  if (field.label === 'map') {
    const copy: Message = { ...(current as Message) };
    const key = String(step);
    if (value === null && rest.length === 0) delete copy[key];
    else put(copy, key, element(Object.hasOwn(copy, key) ? copy[key] : undefined));
    return copy;
  }
  const list = [...(current as unknown[])];
  const index = Number(step);
  if (!Number.isInteger(index) || index < 0 || index > list.length)
    throw new Error(`expected a position from 0 to ${list.length} in the list, found ${step}`);
  if (value === null && rest.length === 0) list.splice(index, 1);
  else list[index] = element(list[index]);
  return list;
}

function merged(field: SchemaField, current: unknown, patch: unknown): unknown {
  if (field.label === undefined) return single(field, current, patch);
  const { label, ...one } = field;
  if (label === 'repeated') {
    if (!Array.isArray(patch)) throw new Error(`expected a list, found ${JSON.stringify(patch)}`);
    return patch.map((item) => single(one, undefined, item));
  }
  const copy: Message = { ...(current as Message | undefined) };
  for (const [key, value] of Object.entries(patch as Message)) {
    if (value === null) delete copy[key];
    else put(copy, key, single(one, Object.hasOwn(copy, key) ? copy[key] : undefined, value));
  }
  return copy;
}

function single(field: SchemaField, current: unknown, patch: unknown): unknown {
  if (field.kind === 'enum') return enumNumber(field.type, patch);
  if (field.kind === 'scalar') return scalar(field.type, patch);
  const special = Object.hasOwn(wellKnown, field.type) ? wellKnown[field.type] : undefined;
  if (special !== undefined) return special(patch);
  const message = (current as object | null | undefined) ?? emptyMessage(field.type);
  return applyMerge(field.type, message, patch as Message);
}

function scalar(type: string, value: unknown): unknown {
  if (type === 'int64') return BigInt(value as string | number).toString();
  if (type === 'string') return String(value);
  if (type === 'bool') return value === true;
  return Number(value);
}

function enumNumber(type: string, value: unknown): number {
  if (typeof value === 'number') return value;
  const number = schemaEnums[type]?.[String(value)];
  if (number === undefined) throw new Error(`expected a name of ${type}, found ${JSON.stringify(value)}`);
  return number;
}

/** From the JSON that protobuf defines for them. */
const wellKnown: Readonly<Record<string, (value: unknown) => Message>> = {
  'google.protobuf.BoolValue': (value) => ({ value: value === true }),
  'google.protobuf.Int64Value': (value) => ({ value: scalar('int64', value) }),
  'google.protobuf.Timestamp': (value) => {
    const ms = Date.parse(String(value));
    if (Number.isNaN(ms)) throw new Error(`expected a time such as 2026-01-31T12:00:00Z, found ${value}`);
    const seconds = Math.floor(ms / 1000);
    return { seconds: String(seconds), nanos: (ms - seconds * 1000) * 1e6 };
  },
};

function defaultOf(field: SchemaField): unknown {
  if (field.label === 'repeated') return [];
  if (field.label === 'map') return {};
  if (field.kind === 'message') return null;
  if (field.type === 'string') return '';
  if (field.type === 'int64') return '0';
  return field.type === 'bool' ? false : 0;
}

function clearOneof(message: Message, fields: Readonly<Record<string, SchemaField>>, oneof: string): void {
  for (const [name, field] of Object.entries(fields)) if (field.oneof === oneof) delete message[name];
  delete message[oneof];
}

function fieldsOf(typeName: string): Readonly<Record<string, SchemaField>> {
  const found = schemaMessages[typeName];
  if (found === undefined) throw new Error(`expected a message of proto/, found ${typeName}`);
  return found.fields;
}

function fieldOf(typeName: string, name: string): SchemaField {
  const fields = fieldsOf(typeName);
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) throw new Error(`expected a field of ${typeName}, found ${name}`);
  return field;
}

/** A map of the wire may have a key __proto__, and assigning that would set the prototype. */
function put(message: Message, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(message, name, { value, enumerable: true, writable: true, configurable: true });
  } else message[name] = value;
}
