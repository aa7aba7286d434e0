import * as fs from 'node:fs';
import type { Extent } from '../../../src/host/host';

export function write(file: string, offset: number, bytes: Buffer): void {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, bytes, 0, bytes.length, offset);
  fs.closeSync(fd);
}

export async function all(extents: AsyncIterable<Extent>): Promise<Extent[]> {
  const found: Extent[] = [];
  for await (const extent of extents) found.push(extent);
  return found;
}
