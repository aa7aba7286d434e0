import fc from 'fast-check';
import { type SchemaField, schemaEnums, schemaMessages } from '../../../src/csi/gen/schema';
import { type CsiMethod, rpcs } from '../../../src/csi/rpcs';
import { bytesField, codec, mapEntry, varintField } from '../csi/wire';

/** Values that a request may be filled with, by what a field is for. */
export interface Pools {
  ids: readonly string[];
  paths: readonly string[];
  secret: string;
  flag: string;
}

const INT64 = [
  '0',
  '1',
  '-1',
  '4096',
  '1048576',
  `${2n ** 53n + 1n}`,
  `${2n ** 63n - 1n}`,
  `${-(2n ** 63n)}`,
];
const INT32 = [0, 1, -1, 2, 2 ** 31 - 1, -(2 ** 31)];
const TEXTS = [
  '',
  'ext4',
  'xfs',
  'true',
  'node-1',
  '1Gi',
  'memory',
  '../../etc/passwd',
  '/absolute',
  'a\0b',
  'two\nlines\r\n',
  '__proto__',
  'constructor',
  'x'.repeat(128),
  'y'.repeat(255),
  'z'.repeat(5_000),
  '\u{10ffff}é\u202e',
  '%s%n{{y}}',
];
const KEYS = [
  'size',
  'backend',
  'scenario',
  'csi.storage.k8s.io/ephemeral',
  'readonly',
  'toString',
  'a b',
  '',
  'k',
];

/** Well-formed messages whose values nobody would send in earnest. */
export function hostile(typeName: string, pools: Pools): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(schemaMessages[typeName]?.fields ?? {});
  const models = fields.map(([name, field]) => [name, fieldOf(name, field, pools)] as const);
  // Mostly there: what is missing is refused before anything else is looked at.
  return fc
    .tuple(
      fc.record(Object.fromEntries(models)),
      fc.array(fc.nat(9), { minLength: fields.length, maxLength: fields.length }),
    )
    .map(([message, keep]) => Object.fromEntries(Object.entries(message).filter((_one, i) => keep[i] !== 0)));
}

function fieldOf(name: string, field: SchemaField, pools: Pools): fc.Arbitrary<unknown> {
  if (field.secret) return fc.constantFrom({}, { user: pools.secret }, { 'bad key': pools.secret });
  if (name === 'mount_flags') return fc.constantFrom([], [pools.flag], ['ro'], [`x=${pools.flag}`, 'ro']);
  const one = scalarOf(name, field, pools);
  if (field.label === 'repeated') return fc.array(one, { maxLength: 2 });
  if (field.label !== 'map') return one;
  return fc
    .array(fc.tuple(fc.constantFrom(...KEYS), one), { maxLength: 2 })
    .map((pairs) => Object.fromEntries(pairs));
}

function scalarOf(name: string, field: SchemaField, pools: Pools): fc.Arbitrary<unknown> {
  if (field.kind === 'message') return hostile(field.type, pools);
  if (field.kind === 'enum') {
    const known = Object.values(schemaEnums[field.type] ?? {});
    return fc.constantFrom(...known, ...known, 99, -1);
  }
  if (field.type === 'bool') return fc.boolean();
  if (field.type === 'int32') return fc.constantFrom(...INT32);
  if (field.type === 'int64') return fc.constantFrom(...INT64);
  const texts = fc.constantFrom(...TEXTS);
  const own = name.endsWith('_path') ? pools.paths : /_ids?$/.test(name) ? pools.ids : [];
  if (own.length === 0) return texts;
  // A path that is nobody's could be somebody's in earnest: only those of the test are sent.
  if (name.endsWith('_path')) return fc.constantFrom(...own);
  return fc.oneof({ arbitrary: fc.constantFrom(...own), weight: 4 }, { arbitrary: texts, weight: 1 });
}

/**
 * What no encoder makes: fields twice, both arms of a oneof, keys of Object.prototype, invalid UTF-8, unknown fields. Half of
 * the messages are good ones (`good`) with two fields spoilt at most: the others rarely come beyond the rules for fields.
 */
export function onTheWire(method: CsiMethod, pools: Pools, good: object): fc.Arbitrary<Buffer> {
  const encode = (fields: object) => codec(method).requestSerialize(fields);
  const names = Object.keys(schemaMessages[rpcs[method].requestType]?.fields ?? {});
  const odd = hostile(rpcs[method].requestType, pools);
  const spoilt = fc
    .tuple(odd, fc.subarray(names, { maxLength: Math.min(2, names.length) }))
    .map(([fields, some]) =>
      encode({
        ...good,
        ...Object.fromEntries(some.filter((name) => name in fields).map((name) => [name, fields[name]])),
      }),
    );
  const wild = fc
    .tuple(odd, fc.option(odd, { freq: 3 }), fc.subarray(oddities(method)))
    .map(([first, again, more]) =>
      Buffer.concat([encode(first), ...(again ? [encode(again)] : []), ...more]),
    );
  return fc.oneof(spoilt, wild);
}

function oddities(method: CsiMethod): Buffer[] {
  const { fields } = schemaMessages[rpcs[method].requestType] ?? { fields: {} };
  const invalid = Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0xed, 0xa0, 0x80]);
  const found = [varintField(1_000, 2n ** 64n - 1n), bytesField(1_001, 'unknown')];
  for (const [name, { id: number, type, label, kind }] of Object.entries(fields)) {
    if (label === 'map')
      for (const key of ['__proto__', 'constructor', 'hasOwnProperty'])
        found.push(mapEntry(number, key, '__proto__'));
    else if (kind === 'scalar' && type === 'string' && !name.endsWith('_path'))
      found.push(bytesField(number, invalid));
  }
  return found;
}
