import fc from 'fast-check';
import { SERVICE_ACCOUNT_TOKENS } from '../../../src/csi/context-keys';
import { type SchemaField, schemaEnums, schemaMessages } from '../../../src/csi/gen/schema';

export const MARKER = 'm4rk3r';
const sensitive = fc.string().map((text) => `${text}${MARKER}${text}`);
const harmless = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes(MARKER));
const key = fc.oneof(harmless, fc.constantFrom('__proto__', 'constructor', 'user'));

/** Any value of a message of the schema, with the marker in every place that must not be shown. */
export function messageOf(typeName: string): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(schemaMessages[typeName]?.fields ?? {});
  const models = fields.map(([name, field]) => [name, fieldOf(name, field)] as const);
  return fc.record(Object.fromEntries(models), { requiredKeys: [] });
}

function fieldOf(name: string, field: SchemaField): fc.Arbitrary<unknown> {
  const value = field.secret || name === 'mount_flags' ? sensitive : scalarOf(field);
  if (field.label === 'repeated') return fc.array(value, { maxLength: 3 });
  if (field.label !== 'map') return value;
  // Tokens come in contexts and secrets. Topology is public, and a refusal may quote it.
  if (name === 'segments') return fc.dictionary(key, value, { maxKeys: 4 });
  const tokens = fc.option(sensitive.map((text): [string, unknown] => [SERVICE_ACCOUNT_TOKENS, text]));
  return fc
    .tuple(fc.array(fc.tuple(key, value), { maxLength: 4 }), tokens)
    .map(([entries, token]) => Object.fromEntries(token ? [...entries, token] : entries));
}

function scalarOf(field: SchemaField): fc.Arbitrary<unknown> {
  if (field.kind === 'message') return messageOf(field.type);
  if (field.kind === 'enum') return fc.constantFrom(...Object.values(schemaEnums[field.type] ?? {}), 99);
  if (field.type === 'bool') return fc.boolean();
  if (field.type === 'int32') return fc.integer();
  if (field.type === 'int64') return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
  return harmless;
}
