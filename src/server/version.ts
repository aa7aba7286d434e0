import { readFileSync } from 'node:fs';
import * as path from 'node:path';

/** The package's version, from the package.json that was shipped with this code. */
export function packageVersion(): string {
  const file = path.join(__dirname, '../../package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
