import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';

const folder = path.join(__dirname, '../../../../scenarios');

/** Every scenario file that is shipped: the language in use. */
export const shipped: readonly { readonly name: string; readonly text: string }[] = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => ({
    name: path.basename(name, '.yaml'),
    text: readFileSync(path.join(folder, name), 'utf8'),
  }));
