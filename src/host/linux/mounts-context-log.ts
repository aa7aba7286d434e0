import type { Libc } from '../libc';

const MESSAGE_SIZE = 4096;
/** The kernel keeps eight messages a context. */
const MAXIMUM_MESSAGES = 8;

/**
 * What the kernel wrote into a filesystem context (read(2) on it: `e ext4: Unknown parameter 'foo'`), errors first,
 * without the level letter.
 */
export function readContextLog(libc: Libc, context: number): string[] {
  const errors: string[] = [];
  const others: string[] = [];
  for (let count = 0; count < MAXIMUM_MESSAGES; count++) {
    const message = libc.readSync(context, MESSAGE_SIZE)?.toString('utf8').trim();
    if (message === undefined) break;
    const text = message.replace(/^[ewi] /, '');
    if (message.startsWith('e ')) errors.push(text);
    else others.push(text);
  }
  return [...errors, ...others];
}
