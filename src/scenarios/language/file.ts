import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Problem } from './problems';

/** A thousand rules are a tenth of it. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** The text of a scenario file, or why it is not read: a folder, a device, too large, no text. Never throws. */
export function readScenarioFile(file: string): { readonly text: string } | Problem {
  const refuse = (message: string): Problem => ({
    file,
    line: 1,
    column: 1,
    path: '',
    message,
    severity: 'error',
  });
  try {
    const bytes = readAtMost(file, MAX_FILE_BYTES);
    if (typeof bytes === 'string') return refuse(bytes);
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return refuse('expected a file, found nothing of this name');
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return refuse('expected YAML in UTF-8, found binary data');
    return refuse(`expected a file that can be read: ${message}`);
  }
}

/** Looks at what was opened, so that it cannot be another file a moment later. */
function readAtMost(file: string, limit: number): Uint8Array | string {
  // A pipe must not block, and a terminal must not become ours.
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = fstatSync(fd);
    if (stats.isDirectory()) return 'expected a file, found a folder';
    if (!stats.isFile()) return 'expected a file, found something that is no regular file';
    if (stats.size > limit) return `expected at most ${limit} bytes, found ${stats.size}`;
    const bytes = new Uint8Array(limit + 1);
    let length = 0;
    for (;;) {
      const read = readSync(fd, bytes, length, bytes.length - length, null);
      length += read;
      if (length > limit) return `expected at most ${limit} bytes, found more`;
      if (read === 0) return bytes.subarray(0, length);
    }
  } finally {
    closeSync(fd);
  }
}
