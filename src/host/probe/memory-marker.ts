import { FS_TYPES, type FsType } from '../host';

/** Where the memory host leaves its mark: where an ext superblock would be, so that one overwrites the other. */
export const MEMORY_MARKER_OFFSET = 1024;
export const MEMORY_MARKER_SIZE = 2048;

const MAGIC = 'fake-csi memory filesystem 1\n';

/** A filesystem as the memory host has it: these facts in the disk file, nothing else. */
export interface MemoryFilesystem {
  fsType: FsType;
  uuid: string;
  sizeBytes: bigint;
  blockSize: number;
  label: string;
}

/** MEMORY_MARKER_SIZE bytes: magic, JSON, zeros. Real bytes, so that a clone or a snapshot of the file carries them. */
export function encodeMemoryMarker(filesystem: MemoryFilesystem): Buffer {
  const text = MAGIC + JSON.stringify({ ...filesystem, sizeBytes: String(filesystem.sizeBytes) });
  const marker = Buffer.alloc(MEMORY_MARKER_SIZE);
  if (Buffer.byteLength(text) >= marker.length) {
    throw new RangeError(
      `a memory filesystem's facts take at most ${marker.length - 1} bytes, not ${Buffer.byteLength(text)}`,
    );
  }
  marker.write(text);
  return marker;
}

/** `null`: no marker here. `damaged`: the magic is there, the facts cannot be read. */
export function parseMemoryMarker(bytes: Buffer): MemoryFilesystem | 'damaged' | null {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  const end = bytes.indexOf(0, MAGIC.length);
  try {
    return fromJson(JSON.parse(bytes.toString('utf8', MAGIC.length, end < 0 ? bytes.length : end)));
  } catch {
    return 'damaged';
  }
}

function fromJson(json: unknown): MemoryFilesystem | 'damaged' {
  if (typeof json !== 'object' || json === null) return 'damaged';
  const { fsType, uuid, sizeBytes, blockSize, label } = json as Record<string, unknown>;
  const known = FS_TYPES.find((type) => type === fsType);
  if (known === undefined || typeof uuid !== 'string' || typeof sizeBytes !== 'string') return 'damaged';
  if (typeof blockSize !== 'number' || typeof label !== 'string') return 'damaged';
  return { fsType: known, uuid, sizeBytes: BigInt(sizeBytes), blockSize, label };
}
