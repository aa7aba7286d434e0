import { readFileSync, statSync } from 'node:fs';
import { wrap } from 'node:module';
import * as path from 'node:path';
import { Script } from 'node:vm';

/**
 * `npm run build` makes two files more of `serve` and all that its start loads: one script, and what V8 compiled of it while a
 * driver started. Finding and compiling several hundred small files is a third of a start; a driver that was killed is missed
 * by a kubelet for as long.
 */
const SCRIPT = path.join(__dirname, 'serve.bundle.js');
const CODE = path.join(__dirname, 'serve.bundle.code');
/** tsc writes it when it compiles; not there in an image. */
const COMPILED = path.join(__dirname, '../.tsbuildinfo');

export type ServeAlone = typeof import('./serve-alone');

export interface Bundle {
  script: Script;
  /** Of the module `serve-alone`, run once. */
  load(): ServeAlone;
}

/**
 * Undefined where there is no script (a package from npm), or where the compiler ran after it was made: then the files
 * that it was made of serve as well. Code that another Node, or one with other V8 flags, has compiled is refused by V8 and
 * compiled again.
 */
export function serveBundle(): Bundle | undefined {
  const made = statSync(SCRIPT, { throwIfNoEntry: false });
  if (made === undefined) return undefined;
  const compiled = statSync(COMPILED, { throwIfNoEntry: false });
  if (compiled !== undefined && compiled.mtimeMs > made.mtimeMs) return undefined;
  // All ASCII, as esbuild writes it: V8 keeps it in a byte a character.
  const source = readFileSync(SCRIPT, 'latin1');
  const script = new Script(wrap(source), { filename: SCRIPT, ...codeOf() });
  return { script, load: () => run(script) };
}

function codeOf(): { cachedData?: Buffer } {
  try {
    return { cachedData: readFileSync(CODE) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function run(script: Script): ServeAlone {
  const made = { exports: {} };
  script.runInThisContext()(made.exports, require, made, SCRIPT, __dirname);
  return made.exports as ServeAlone;
}
