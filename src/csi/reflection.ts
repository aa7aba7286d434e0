import { Enum, type IField, type IMapField, type IType, Root, Type } from 'protobufjs/light';
import { once } from '../util/once';
import { type SchemaField, type SchemaMessage, schemaEnums, schemaMessages } from './gen/schema';

/**
 * What a decoded message looks like: field names as in the .proto, int64 as decimal string, enums as number
 * (an unknown number survives, so that it can be refused), absent scalars as their default, absent messages as
 * null, and for every oneof a property with the name of the arm that is set. The generated types say the same.
 */
const DECODING = { longs: String, enums: Number, defaults: true, oneofs: true };

/** Bytes of a message and back. */
export interface Codec {
  /** @throws TypeError, Error when a field is of another kind than the .proto says. */
  serialize(message: object): Buffer;
  /** @throws Error, RangeError when the bytes are no message. Fields that are not known are passed over. */
  deserialize(bytes: Buffer): object;
}

/**
 * The messages of proto/ for protobufjs, from what `npm run generate` made of them: reading the .proto files at run time, and
 * making the descriptors that proto-loader hands out for server reflection, took a quarter of the start. Each is made known
 * when it is first used: the first call does not wait for the rest.
 */
export class Reflection {
  private readonly root = new Root({ syntax: 'proto3' });
  private readonly known = new Set<string>();

  /** The codec of a message; protobufjs makes its code at the first use. @throws Error for no message of proto/ */
  codec(fullName: string): Codec {
    if (!Object.hasOwn(schemaMessages, fullName))
      throw new Error(`expected a message of proto/, found ${fullName}`);
    const type = once(() => {
      this.learn(fullName);
      return this.root.lookupType(fullName);
    });
    return {
      serialize: (message) => Buffer.from(type().encode(type().fromObject(message)).finish()),
      deserialize: (bytes) => type().toObject(type().decode(bytes), DECODING),
    };
  }

  /** A message with what lies in it (as AccessMode does in VolumeCapability), and then all that any of it refers to. */
  private learn(fullName: string): void {
    const outermost = outermostOf(fullName);
    if (this.known.has(outermost)) return;
    this.known.add(outermost);
    const at = outermost.lastIndexOf('.');
    const name = outermost.slice(at + 1);
    const values = schemaEnums[outermost];
    this.root
      .define(outermost.slice(0, at))
      .add(values ? new Enum(name, { ...values }) : Type.fromJSON(name, nested(outermost)));
    for (const [other, { fields }] of Object.entries(schemaMessages))
      if (other === outermost || other.startsWith(`${outermost}.`))
        for (const { kind, type } of Object.values(fields)) if (kind !== 'scalar') this.learn(type);
  }
}

/** What lies in no message and in which this one lies, or itself. */
function outermostOf(fullName: string): string {
  const parent = fullName.slice(0, fullName.lastIndexOf('.'));
  return Object.hasOwn(schemaMessages, parent) ? outermostOf(parent) : fullName;
}

/** As protobufjs nests them: a message or enum of a message is in it, as `VolumeCapability.AccessMode`. */
function nested(fullName: string): IType {
  const start = `${fullName}.`;
  const inside = (names: object) =>
    Object.keys(names).filter((name) => name.startsWith(start) && !name.includes('.', start.length));
  const entries = [
    ...inside(schemaMessages).map((name) => [name, nested(name)] as const),
    ...inside(schemaEnums).map((name) => [name, { values: { ...schemaEnums[name] } }] as const),
  ];
  return {
    ...asType(schemaMessages[fullName] ?? { fields: {} }),
    nested: Object.fromEntries(entries.map(([name, made]) => [name.slice(start.length), made])),
  };
}

function asType({ fields }: SchemaMessage): IType {
  const oneofs: Record<string, { oneof: string[] }> = {};
  for (const [name, { oneof }] of Object.entries(fields)) {
    if (oneof === undefined) continue;
    oneofs[oneof] ??= { oneof: [] };
    oneofs[oneof].oneof.push(name);
  }
  return {
    fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, asField(field)])),
    oneofs,
  };
}

/** Maps have keys of one type in all of CSI. */
function asField({ id, type, kind, label }: SchemaField): IField | IMapField {
  const full = kind === 'scalar' ? type : `.${type}`;
  if (label === 'map') return { keyType: 'string', type: full, id };
  return label === 'repeated' ? { rule: 'repeated', type: full, id } : { type: full, id };
}
