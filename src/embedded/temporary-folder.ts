import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

/** Where temporary folders are made: of a longer one, a socket's path would have more than its 107 bytes. */
const LONGEST_TMPDIR = 80;

/** @returns its real path, as mount tables have it */
export function temporaryFolder(prefix: string): string {
  const base = Buffer.byteLength(tmpdir()) <= LONGEST_TMPDIR ? tmpdir() : '/tmp';
  return fs.realpathSync(fs.mkdtempSync(path.join(base, prefix)));
}
