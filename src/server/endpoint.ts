import * as path from 'node:path';

/** sun_path has 108 bytes with the final NUL. Node 20 and 22 cut a longer one silently and listen elsewhere. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * The socket's path from `unix:///a/csi.sock`, `unix:/a/csi.sock`, `/a/csi.sock` or a relative path.
 * @throws Error with one line
 */
export function socketPathOf(endpoint: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'unix')
    throw new Error(
      `endpoint ${endpoint}: expected unix:///absolute/path.sock, found the scheme ${scheme}; CSI is spoken on a Unix socket`,
    );
  const file = path.resolve(endpoint.replace(/^unix:(\/\/)?/i, ''));
  if (!file.endsWith('.sock'))
    throw new Error(`endpoint ${endpoint}: expected a path that ends in .sock, found ${file}`);
  checkSocketLength(file, `endpoint ${endpoint}`);
  return file;
}

/** @throws Error with one line. `subject` names the option and the path. */
export function checkSocketLength(file: string, subject: string): void {
  const bytes = Buffer.byteLength(file);
  if (bytes > MAX_SOCKET_PATH_BYTES)
    throw new Error(
      `${subject}: a Unix socket's path has at most ${MAX_SOCKET_PATH_BYTES} bytes, this one has ${bytes}; choose a shorter folder`,
    );
}
