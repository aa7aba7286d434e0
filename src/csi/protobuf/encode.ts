import { type Field, fieldsOf } from './fields';
import { WireWriter } from './writer';

type Message = Readonly<Record<string, unknown>>;

/**
 * Makes bytes of messages. Taken besides what the decoder gives: absent fields, enums by name, int64 as bigint or number.
 * Fields of no known name are left out, fields that are there are written even at their default.
 */
export class Encoder {
  private readonly messages = new Map<string, readonly Field[]>();

  /** @throws TypeError when a field is of another kind than proto/ says. */
  encode(type: string, message: object): Buffer {
    const writer = new WireWriter();
    this.write(type, message, writer, type);
    return writer.finish();
  }

  private write(type: string, message: unknown, writer: WireWriter, name: string): void {
    if (!isObject(message) || Array.isArray(message)) throw new TypeError(`${name}: object expected`);
    for (const field of this.fields(type)) {
      const value = message[field.name];
      if (value !== undefined && value !== null) this.writeField(field, value, writer);
    }
  }

  private writeField(field: Field, value: unknown, writer: WireWriter): void {
    const { fullName, label } = field;
    if (label === 'map') {
      if (!isObject(value)) throw new TypeError(`${fullName}: object expected`);
      for (const key of Object.keys(value)) writeEntry(field, key, String(value[key]), writer);
    } else if (label === 'repeated') {
      if (!Array.isArray(value)) throw new TypeError(`${fullName}: array expected`);
      for (const element of value) this.writeOne(field, element, writer);
    } else this.writeOne(field, value, writer);
  }

  private writeOne(field: Field, value: unknown, writer: WireWriter): void {
    if (field.scalar === undefined) {
      writer.uint32(field.tag);
      writer.delimited(() => this.write(field.type, value, writer, field.fullName));
      return;
    }
    if (field.scalar === 'enum') {
      const number = typeof value === 'number' ? value : field.values[String(value)];
      if (number === undefined) return;
      writer.uint32(field.tag);
      writer.int32(number | 0);
      return;
    }
    writer.uint32(field.tag);
    if (field.scalar === 'string') writer.string(String(value));
    else if (field.scalar === 'int64') writer.int64(int64(field, value));
    else if (field.scalar === 'int32') writer.int32(Number(value) | 0);
    else writer.bool(Boolean(value));
  }

  private fields(type: string): readonly Field[] {
    const known = this.messages.get(type);
    if (known) return known;
    const made = fieldsOf(type);
    this.messages.set(type, made);
    return made;
  }
}

function writeEntry({ tag }: Field, key: string, value: string, writer: WireWriter): void {
  writer.uint32(tag);
  writer.delimited(() => {
    writer.uint32(0x0a);
    writer.string(key);
    writer.uint32(0x12);
    writer.string(value);
  });
}

function int64({ fullName }: Field, value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return BigInt(Math.trunc(value));
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value);
  throw new TypeError(`${fullName}: expected an int64 as decimal digits, found ${JSON.stringify(value)}`);
}

function isObject(value: unknown): value is Message {
  return typeof value === 'object' && value !== null;
}
