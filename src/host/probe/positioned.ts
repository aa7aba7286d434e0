import type { FileHandle } from 'node:fs/promises';

/**
 * Fills `length` bytes from `position`, or what there is of them. read(2) answers short before a bad sector and
 * fails only when asked again, so a short answer is no end.
 */
export async function readFully(handle: FileHandle, position: bigint, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const at = Number(position) + filled;
    const { bytesRead } = await handle.read(buffer, filled, length - filled, at);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Writes all of `bytes`; a write may take only a part (a full disk tells so on the next one). */
export async function writeFully(handle: FileHandle, bytes: Buffer, position: bigint): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const at = Number(position) + done;
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at);
    done += bytesWritten;
  }
}
