import { createHash } from 'node:crypto';

/** Draws that depend on the seed and on what they are for, never on the order in which they are asked for. */
export class Seeded {
  constructor(private readonly seed: number) {}

  private bytes(what: string): Buffer {
    return createHash('sha256').update(`${this.seed}\n${what}`).digest();
  }

  /** From 0 up to, not including, 1. */
  fraction(what: string): number {
    return this.bytes(what).readUInt32BE(0) / 2 ** 32;
  }

  /** A UUID of version 4. */
  uuid(what: string): string {
    const bytes = this.bytes(what);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
      '-',
    );
  }

  /** The value up to `1 + jitter` times of it, in whole milliseconds. */
  jittered(ms: number, jitter: number, what: string): number {
    return Math.round(ms * (1 + jitter * this.fraction(what)));
  }
}
