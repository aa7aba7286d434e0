import type { FsType } from '../host';

/** What one parser sees in the bytes it looks at. `damaged`: the magic is there, the rest cannot be believed. */
export type Finding =
  | {
      kind: 'filesystem';
      fsType: FsType | 'ext2' | 'ext3';
      uuid: string;
      sizeBytes: bigint;
      blockSize: number;
    }
  | { kind: 'damaged'; what: string };

/** 16 bytes at `offset` as the customary text, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
export function uuidText(bytes: Buffer, offset: number): string {
  const hex = bytes.toString('hex', offset, offset + 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function isPowerOfTwo(value: number): boolean {
  return value > 0 && (value & (value - 1)) === 0;
}
