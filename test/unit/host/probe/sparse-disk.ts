import type { Extent } from '../../../../src/host/host';
import { type DiskReader, larger } from '../../../../src/host/probe';

export interface SparseDisk extends DiskReader {
  /** Bytes handed out so far. */
  bytesRead(): bigint;
}

/**
 * A disk of `sizeBytes` whose data extents are `parts`; everything else is a hole. `holesKnown: false`: as a block
 * device, it cannot tell its holes.
 */
export function sparseDisk(
  sizeBytes: bigint,
  parts: Record<number, Buffer>,
  { holesKnown = true }: { holesKnown?: boolean } = {},
): SparseDisk {
  const written = Object.entries(parts)
    .map(([offset, bytes]) => ({ offset: BigInt(offset), bytes }))
    .sort((a, b) => Number(a.offset - b.offset));
  let bytesRead = 0n;
  return {
    sizeBytes,
    bytesRead: () => bytesRead,
    read: async (offset, length) => {
      const left = sizeBytes - offset;
      const bytes = Buffer.alloc(left < 0n ? 0 : Math.min(length, Number(left)));
      for (const part of written) part.bytes.copy(bytes, ...overlap(part.offset, offset, part.bytes, bytes));
      bytesRead += BigInt(bytes.length);
      return bytes;
    },
    async *dataExtents(from): AsyncGenerator<Extent> {
      if (!holesKnown && from < sizeBytes) yield { offset: from, length: sizeBytes - from };
      if (!holesKnown) return;
      for (const { offset, bytes } of written) {
        const end = offset + BigInt(bytes.length);
        const start = larger(offset, from);
        if (start < end) yield { offset: start, length: end - start };
      }
    },
  };
}

/** Arguments of Buffer.copy: where in the answer, and which part of the written bytes. */
function overlap(partAt: bigint, readAt: bigint, part: Buffer, answer: Buffer): [number, number, number] {
  const into = Number(partAt - readAt);
  const start = Math.min(Math.max(0, -into), part.length);
  const room = answer.length - Math.max(0, into);
  return [Math.max(0, into), start, Math.max(start, Math.min(part.length, start + room))];
}
