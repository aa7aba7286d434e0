const FIRST_BYTES = 256;

/** Writes the parts of one message in protobuf's wire format. */
export class WireWriter {
  private bytes = Buffer.allocUnsafe(FIRST_BYTES);
  private position = 0;

  /** What has been written. The writer is not to be used after. */
  finish(): Buffer {
    return this.bytes.subarray(0, this.position);
  }

  uint32(value: number): void {
    this.room(5);
    this.position = putVarint(this.bytes, this.position, value >>> 0);
  }

  /** Negative ones are sent sign-extended to 64 bits: ten bytes. */
  int32(value: number): void {
    if (value < 0) this.int64(BigInt(value));
    else this.uint32(value);
  }

  bool(value: boolean): void {
    this.uint32(value ? 1 : 0);
  }

  /** Of what does not fit the low 64 bits, as any encoder does. */
  int64(value: bigint): void {
    this.room(10);
    let rest = BigInt.asUintN(64, value);
    while (rest > 0x7fn) {
      this.bytes[this.position++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.position++] = Number(rest);
  }

  string(value: string): void {
    const length = Buffer.byteLength(value);
    this.uint32(length);
    this.room(length);
    this.position += this.bytes.write(value, this.position, 'utf8');
  }

  /** What `content` writes, behind its length. */
  delimited(content: () => void): void {
    this.room(1);
    const at = this.position++;
    content();
    const start = at + 1;
    const length = this.position - start;
    // Almost always one byte holds the length; otherwise what was written moves on.
    const more = lengthOfVarint(length) - 1;
    if (more > 0) {
      this.room(more);
      this.bytes.copyWithin(start + more, start, this.position);
      this.position += more;
    }
    putVarint(this.bytes, at, length);
  }

  private room(length: number): void {
    const needed = this.position + length;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.position);
    this.bytes = larger;
  }
}

/** @returns the position behind it. */
function putVarint(bytes: Buffer, at: number, value: number): number {
  let position = at;
  let rest = value;
  while (rest > 0x7f) {
    bytes[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[position++] = rest;
  return position;
}

function lengthOfVarint(value: number): number {
  let length = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++;
  return length;
}
