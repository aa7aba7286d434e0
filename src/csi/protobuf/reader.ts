/** The types of what follows a tag (protobuf encoding, "Message Structure"). */
export const WIRE = { VARINT: 0, FIXED64: 1, LENGTH: 2, GROUP: 3, END_GROUP: 4, FIXED32: 5 } as const;

const MAX_VARINT_BYTES = 10;
/** Groups in groups of a field that we do not know: what a hostile message could make us recurse into. */
const MAX_DEPTH = 100;

/** Reads the parts of one message of protobuf's wire format, from `position` up to `end`. @throws RangeError, Error */
export class WireReader {
  position = 0;
  end: number;

  constructor(private readonly bytes: Buffer) {
    this.end = bytes.length;
  }

  /** The low 32 bits of a varint, unsigned: tags, lengths, and int32 and enums, which are sent sign-extended to 64. */
  uint32(): number {
    const { bytes } = this;
    let value = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.position >= this.end) throw this.outOfRange(1);
      const byte = bytes[this.position++] as number;
      if (i < 5) value = (value | ((byte & 0x7f) << (i * 7))) >>> 0;
      if (byte < 0x80) return value;
    }
    throw new Error('invalid varint encoding');
  }

  int32(): number {
    return this.uint32() | 0;
  }

  bool(): boolean {
    return this.varint() !== 0n;
  }

  /** In decimal digits: a number of JavaScript does not hold them all. */
  int64(): string {
    const start = this.position;
    const small = this.uint32();
    // Four bytes or fewer hold 28 bits at most, and few values are longer.
    if (this.position - start <= 4) return String(small);
    this.position = start;
    return BigInt.asIntN(64, this.varint()).toString();
  }

  /** Bytes that are no UTF-8 become U+FFFD. */
  string(): string {
    const end = this.endOfLength();
    const text = this.bytes.toString('utf8', this.position, end);
    this.position = end;
    return text;
  }

  /** Where the length-delimited thing ends whose length stands here. */
  endOfLength(): number {
    const length = this.uint32();
    if (length > this.end - this.position) throw this.outOfRange(length);
    return this.position + length;
  }

  skip(wireType: number, depth = 0): void {
    switch (wireType) {
      case WIRE.VARINT:
        this.uint32();
        return;
      case WIRE.FIXED64:
        this.pass(8);
        return;
      case WIRE.LENGTH:
        this.position = this.endOfLength();
        return;
      case WIRE.GROUP:
        if (depth >= MAX_DEPTH) throw new Error('maximum nesting depth exceeded');
        for (let inner = this.uint32() & 7; inner !== WIRE.END_GROUP; inner = this.uint32() & 7)
          this.skip(inner, depth + 1);
        return;
      case WIRE.FIXED32:
        this.pass(4);
        return;
      default:
        throw new Error(`invalid wire type ${wireType} at offset ${this.position}`);
    }
  }

  private varint(): bigint {
    let value = 0n;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.position >= this.end) throw this.outOfRange(1);
      const byte = this.bytes[this.position++] as number;
      value |= BigInt(byte & 0x7f) << BigInt(i * 7);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Error('invalid varint encoding');
  }

  private pass(length: number): void {
    if (length > this.end - this.position) throw this.outOfRange(length);
    this.position += length;
  }

  private outOfRange(length: number): RangeError {
    return new RangeError(`index out of range: ${this.position} + ${length} > ${this.end}`);
  }
}
