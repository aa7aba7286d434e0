import { SERVICE_ACCOUNT_TOKENS } from './context-keys';
import { type SchemaField, schemaEnums, schemaMessages } from './gen/schema';
import { type Method, type RequestOf, type ResponseOf, rpcs } from './rpcs';

/** JSON data. */
export type Plain = string | number | boolean | Plain[] | PlainObject;
export interface PlainObject {
  [key: string]: Plain;
}

export const STRIPPED = '***stripped***';

/** Longer strings are cut: one call must not fill a journal. The wire allows 4 MiB a message. */
const MAX_TEXT = 4096;
/** More list elements or map entries than this are counted, not copied. */
const MAX_ITEMS = 1000;

/** Sensitive by the specification's prose, without the csi_secret option. */
const sensitiveFields: ReadonlySet<string> = new Set(['csi.v1.VolumeCapability.MountVolume.mount_flags']);

/** Entries of any map that are credentials even where the map is not secret. */
const sensitiveKeys: ReadonlySet<string> = new Set([SERVICE_ACCOUNT_TOKENS]);

/** A plain copy, or undefined for a value that says no more than its absence. */
type Render = (value: unknown) => Plain | undefined;

/** As JSON usually writes them. A wrapper that is present says something even at its default. */
const wellKnown: ReadonlyMap<string, Render> = new Map<string, Render>([
  ['google.protobuf.BoolValue', (message) => (message as { value?: boolean }).value ?? false],
  ['google.protobuf.Int64Value', (message) => String((message as { value?: unknown }).value ?? 0)],
  ['google.protobuf.Timestamp', timestamp],
]);

const renderers = compile();

/**
 * The request as the journal and the logs may keep it: JSON data without the value of any secret, mount flag or
 * service-account token. Fields that are empty or at their default are left out, enums are given by name, Timestamp
 * and wrapper messages by value.
 */
export function redactRequest<M extends Method>(method: M, request: RequestOf<M>): PlainObject {
  return redactMessage(rpcs[method].requestType, request);
}

export function redactResponse<M extends Method>(method: M, response: ResponseOf<M>): PlainObject {
  return redactMessage(rpcs[method].responseType, response);
}

/** The same for a message by its full name, such as pluginregistration.RegistrationStatus. */
export function redactMessage(typeName: string, message: object): PlainObject {
  const render = renderers.get(typeName);
  if (render === undefined) throw new Error(`expected a message of proto/, found ${typeName}`);
  return render(message) as PlainObject;
}

/** One renderer a message, made once from the schema, so that a call only walks values. */
function compile(): ReadonlyMap<string, Render> {
  const made = new Map<string, Render>(wellKnown);
  const make = (typeName: string): Render => {
    const known = made.get(typeName);
    if (known !== undefined) return known;
    const fields = Object.entries(schemaMessages[typeName]?.fields ?? {}).map(
      ([name, field]) => [name, renderField(`${typeName}.${name}`, field, make)] as const,
    );
    const render: Render = (message) => {
      const copy: PlainObject = {};
      for (const [name, renderValue] of fields) {
        const value = (message as Record<string, unknown>)[name];
        if (value === undefined || value === null) continue;
        const plain = renderValue(value);
        if (plain !== undefined) copy[name] = plain;
      }
      return copy;
    };
    made.set(typeName, render);
    return render;
  };
  for (const typeName of Object.keys(schemaMessages)) make(typeName);
  return made;
}

function renderField(fullName: string, field: SchemaField, make: (typeName: string) => Render): Render {
  const secret = field.secret === true || sensitiveFields.has(fullName);
  const element = secret ? strip : renderElement(field, make);
  if (field.label === 'map') return mapOf(element);
  if (field.label === 'repeated') return listOf(element);
  return field.kind === 'message' || secret ? element : withoutDefault(element);
}

function renderElement(field: SchemaField, make: (typeName: string) => Render): Render {
  if (field.kind === 'message') return make(field.type);
  if (field.kind === 'enum') return enumName(schemaEnums[field.type] ?? {});
  if (field.type === 'string') return text;
  if (field.type === 'int64') return (value) => String(value);
  return (value) => value as number | boolean;
}

function strip(): string {
  return STRIPPED;
}

function text(value: unknown): string {
  const whole = value as string;
  return whole.length <= MAX_TEXT
    ? whole
    : `${whole.slice(0, MAX_TEXT)}… (${whole.length - MAX_TEXT} characters cut)`;
}

function withoutDefault(render: Render): Render {
  return (value) => {
    const plain = render(value);
    return plain === '' || plain === 0 || plain === '0' || plain === false || plain === 'UNKNOWN'
      ? undefined
      : plain;
  };
}

/** A number without a name is what a newer or a hostile peer sent: shown as it is. */
function enumName(values: Readonly<Record<string, number>>): Render {
  const names = new Map(Object.entries(values).map(([name, number]) => [number, name]));
  return (value) => names.get(value as number) ?? (value as number | string);
}

function listOf(element: Render): Render {
  return (value) => {
    const list = value as unknown[];
    if (list.length === 0) return undefined;
    const copy = list.slice(0, MAX_ITEMS).map((item) => element(item) as Plain);
    if (list.length > MAX_ITEMS) copy.push(`… (${list.length - MAX_ITEMS} more)`);
    return copy;
  };
}

function mapOf(element: Render): Render {
  return (value) => {
    const map = value as Record<string, unknown>;
    const keys = Object.keys(map);
    if (keys.length === 0) return undefined;
    const copy: PlainObject = {};
    for (const key of keys.length > MAX_ITEMS ? keys.slice(0, MAX_ITEMS) : keys) {
      put(copy, text(key), sensitiveKeys.has(key) ? STRIPPED : (element(map[key]) as Plain));
    }
    if (keys.length > MAX_ITEMS) copy['…'] = `(${keys.length - MAX_ITEMS} more)`;
    return copy;
  };
}

/** The wire may name a key __proto__, and assigning that would set the prototype. */
function put(copy: PlainObject, key: string, value: Plain): void {
  if (key === '__proto__') {
    Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    copy[key] = value;
  }
}

function timestamp(message: unknown): Plain {
  const { seconds, nanos } = message as { seconds?: unknown; nanos?: number };
  const date = new Date(Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6);
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString();
}
