import { type SchemaField, schemaEnums, schemaMessages } from '../gen/schema';
import { WIRE } from './reader';

const scalars = ['string', 'int64', 'int32', 'bool'] as const;
export type Scalar = (typeof scalars)[number] | 'enum';

/** One field of a message, as the codec asks for it. */
export interface Field {
  readonly name: string;
  /** What it begins with on the wire: its number and the type of what follows. */
  readonly tag: number;
  readonly wireType: number;
  /** `csi.v1.X.field`, for errors. */
  readonly fullName: string;
  /** Of its values; undefined: a message. */
  readonly scalar: Scalar | undefined;
  /** Full name of a message or enum. */
  readonly type: string;
  /** Maps are of strings by strings. */
  readonly label: 'repeated' | 'map' | undefined;
  readonly oneof: string | undefined;
  /** Of an enum: its numbers by name. */
  readonly values: Readonly<Record<string, number>>;
}

/** The fields of a message in the order of their numbers, which is the order of encoding. @throws Error for no message of proto/ */
export function fieldsOf(type: string): readonly Field[] {
  const message = schemaMessages[type];
  if (message === undefined) throw new Error(`expected a message of proto/, found ${type}`);
  const fields = Object.entries(message.fields).map(([name, field]) => describe(type, name, field));
  return fields.sort((a, b) => a.tag - b.tag);
}

function describe(message: string, name: string, field: SchemaField): Field {
  const fullName = `${message}.${name}`;
  const scalar = scalarOf(fullName, field);
  const isDelimited = field.label !== undefined || scalar === undefined || scalar === 'string';
  const wireType = isDelimited ? WIRE.LENGTH : WIRE.VARINT;
  return {
    name,
    tag: (field.id << 3) | wireType,
    wireType,
    fullName,
    scalar,
    type: field.type,
    label: field.label,
    oneof: field.oneof,
    values: schemaEnums[field.type] ?? {},
  };
}

/** CSI has few kinds of fields; one of a new kind is to be noticed when proto/ gets it, not when a call carries it. */
function scalarOf(fullName: string, { kind, type, label }: SchemaField): Scalar | undefined {
  const scalar =
    kind === 'scalar' ? scalars.find((one) => one === type) : kind === 'enum' ? 'enum' : undefined;
  const isProvidedFor =
    label === undefined
      ? scalar !== undefined || kind === 'message'
      : scalar === 'string' || (label === 'repeated' && kind === 'message');
  if (isProvidedFor) return scalar;
  throw new Error(`${fullName}: src/csi/protobuf has no codec for ${label ?? 'a single'} ${type}`);
}
