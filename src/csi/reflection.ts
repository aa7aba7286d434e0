import { type INamespace, Root, type Type } from 'protobufjs/light';
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
 * making the descriptors that proto-loader hands out for server reflection, took a quarter of the start.
 */
export class Reflection {
  private readonly root = Root.fromJSON(asNamespace());

  /** The codec of a message; protobufjs makes its code at the first use. @throws Error for no message of proto/ */
  codec(fullName: string): Codec {
    const type: Type = this.root.lookupType(fullName);
    return {
      serialize: (message) => Buffer.from(type.encode(type.fromObject(message)).finish()),
      deserialize: (bytes) => type.toObject(type.decode(bytes), DECODING),
    };
  }
}

/** As protobufjs nests them: a message of a message is in it, as `VolumeCapability.AccessMode`. */
interface Nested {
  fields?: Record<string, object>;
  oneofs?: Record<string, { oneof: string[] }>;
  values?: Record<string, number>;
  nested: Record<string, Nested>;
}

function asNamespace(): INamespace {
  const root: Nested = { nested: {} };
  for (const [name, message] of Object.entries(schemaMessages))
    Object.assign(at(root, name), asType(message));
  for (const [name, values] of Object.entries(schemaEnums)) Object.assign(at(root, name), { values });
  return { options: { syntax: 'proto3' }, ...(root as object) };
}

/** What stands at a full name, made where there is nothing yet. */
function at(root: Nested, fullName: string): Nested {
  let found = root;
  for (const part of fullName.split('.')) {
    found.nested[part] ??= { nested: {} };
    found = found.nested[part];
  }
  return found;
}

function asType({ fields }: SchemaMessage): Pick<Nested, 'fields' | 'oneofs'> {
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
function asField({ id, type, kind, label }: SchemaField): object {
  const full = kind === 'scalar' ? type : `.${type}`;
  if (label === 'map') return { keyType: 'string', type: full, id };
  return label === 'repeated' ? { rule: 'repeated', type: full, id } : { type: full, id };
}
