import { type Field, fieldsOf } from './fields';
import { WireReader } from './reader';

type Message = Record<string, unknown>;

/**
 * Makes messages of bytes. What a message looks like: field names as in the .proto, int64 as decimal string, enums as
 * number (an unknown number survives, so that it can be refused), absent scalars as their default, absent messages as
 * null, and for every oneof a property with the name of the arm that is set. The generated types say the same.
 */
export class Decoder {
  private readonly messages = new Map<string, DecodedMessage>();

  /** @throws Error, RangeError when the bytes are no message. Fields that are not known are passed over. */
  decode(type: string, bytes: Buffer): object {
    const reader = new WireReader(bytes);
    return this.read(this.message(type), reader);
  }

  private read(message: DecodedMessage, reader: WireReader): Message {
    const value = message.empty();
    while (reader.position < reader.end) {
      const tag = reader.uint32();
      const field = message.byTag.get(tag);
      // A known number with another wire type is as unknown as a number that is not known.
      if (field === undefined) reader.skip(tag & 7);
      else this.readField(field, value, reader);
    }
    return value;
  }

  private readField(field: Field, value: Message, reader: WireReader): void {
    if (field.label === 'map') readEntry(value[field.name] as Record<string, string>, reader);
    else if (field.label === 'repeated') (value[field.name] as unknown[]).push(this.readOne(field, reader));
    else {
      value[field.name] = this.readOne(field, reader);
      if (field.oneof !== undefined) value[field.oneof] = field.name;
    }
  }

  private readOne(field: Field, reader: WireReader): unknown {
    switch (field.scalar) {
      case 'string':
        return reader.string();
      case 'int64':
        return reader.int64();
      case 'int32':
      case 'enum':
        return reader.int32();
      case 'bool':
        return reader.bool();
      case undefined:
        return within(reader, () => this.read(this.message(field.type), reader));
    }
  }

  private message(type: string): DecodedMessage {
    const known = this.messages.get(type);
    if (known) return known;
    const made = new DecodedMessage(fieldsOf(type));
    this.messages.set(type, made);
    return made;
  }
}

class DecodedMessage {
  readonly byTag: ReadonlyMap<number, Field>;

  constructor(private readonly fields: readonly Field[]) {
    this.byTag = new Map(fields.map((field) => [field.tag, field]));
  }

  /** With every field that is there though nothing was sent. */
  empty(): Message {
    const value: Message = {};
    for (const field of this.fields) if (field.oneof === undefined) value[field.name] = absent(field);
    return value;
  }
}

function absent({ label, scalar }: Field): unknown {
  if (label === 'map') return {};
  if (label === 'repeated') return [];
  switch (scalar) {
    case 'string':
      return '';
    case 'int64':
      return '0';
    case 'int32':
    case 'enum':
      return 0;
    case 'bool':
      return false;
    case undefined:
      return null;
  }
}

const ENTRY_KEY = 0x0a;
const ENTRY_VALUE = 0x12;

/** An entry of a map is a message of two strings; the last one of a key counts. */
function readEntry(map: Record<string, string>, reader: WireReader): void {
  let key = '';
  let value = '';
  within(reader, () => {
    while (reader.position < reader.end) {
      const tag = reader.uint32();
      if (tag === ENTRY_KEY) key = reader.string();
      else if (tag === ENTRY_VALUE) value = reader.string();
      else reader.skip(tag & 7);
    }
  });
  // Assigned, this one would be lost instead of becoming an entry.
  if (key === '__proto__')
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}

function within<T>(reader: WireReader, read: () => T): T {
  const outer = reader.end;
  reader.end = reader.endOfLength();
  const value = read();
  reader.end = outer;
  return value;
}
