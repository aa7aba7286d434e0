import { type Check, invalid, quote } from './check';

/** Size Limits of the specification: a string without a limit of its own. */
export const GENERAL_LIMIT = 128;
/** NodeGetInfoResponse.node_id, and wherever that id comes back. */
const NODE_ID_LIMIT = 256;
/** PATH_MAX without its terminating NUL. */
const PATH_LIMIT = 4095;

/** Limits count UTF-8 bytes. */
export function utf8Bytes(value: string): number {
  return Buffer.byteLength(value, 'utf8');
}

/** A UTF-16 unit is at most three bytes, so most values need no counting. */
function isLonger(value: string, limit: number): boolean {
  return value.length * 3 > limit && utf8Bytes(value) > limit;
}

export function text(limit = GENERAL_LIMIT): Check<string> {
  return (value, at) => {
    if (isLonger(value, limit)) {
      throw invalid(at, `at most ${limit} bytes`, `${utf8Bytes(value)} bytes`);
    }
  };
}

export function requiredText(limit = GENERAL_LIMIT): Check<string> {
  const limited = text(limit);
  return (value, at, config) => {
    if (value === '') throw invalid(at, 'a non-empty string (required field)', 'it empty');
    limited(value, at, config);
  };
}

export const id = requiredText();
export const optionalId = text();
export const nodeId = requiredText(NODE_ID_LIMIT);
export const optionalNodeId = text(NODE_ID_LIMIT);

/** The name of a new volume, snapshot or group: any Unicode but control characters; TAB, LF and CR are allowed. */
export const newName: Check<string> = (value, at, config) => {
  id(value, at, config);
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (isBanned(unit)) {
      const found = `U+${unit.toString(16).toUpperCase().padStart(4, '0')} at character ${i + 1}`;
      throw invalid(at, 'a name without control characters (TAB, LF and CR are allowed)', found);
    }
  }
};

function isBanned(unit: number): boolean {
  if (unit >= 0x20) return unit >= 0x7f && unit <= 0x9f;
  return unit !== 0x09 && unit !== 0x0a && unit !== 0x0d;
}

/** An absolute path as the kernel takes it. Limits of its own: a kubelet target path has more than 128 bytes. */
export const absolutePath: Check<string> = (value, at, config) => {
  somePath(value, at, config);
  if (value[0] !== '/') throw invalid(at, 'an absolute path', quote(value));
};

export const optionalAbsolutePath: Check<string> = (value, at, config) => {
  if (value !== '') absolutePath(value, at, config);
};

/** A path that may be relative: csi-sanity sends `some/path` and wants to hear that nothing is there. */
export const somePath: Check<string> = (value, at) => {
  if (value === '') throw invalid(at, 'a path (required field)', 'it empty');
  if (isLonger(value, PATH_LIMIT)) {
    throw invalid(at, `at most ${PATH_LIMIT} bytes`, `${utf8Bytes(value)} bytes`);
  }
  if (value.includes('\0')) throw invalid(at, 'a path without NUL', quote(value));
  if (value.includes('..') && value.split('/').includes('..')) {
    throw invalid(at, 'a path without .. segments', quote(value));
  }
};
