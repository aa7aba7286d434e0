import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { HostError } from '../host/host';

const COPY_LIMIT_MS = 10 * 60_000;

/**
 * Copies a file tree with owners, modes, times, links, extended attributes and holes. cp(1) does this right, and a
 * snapshot of a tree is no hot path. The target appears complete or not at all.
 * @throws HostError with cp's own last words.
 */
export async function copyTree(source: string, target: string, signal: AbortSignal): Promise<void> {
  const partial = `${target}.partial`;
  await fs.rm(partial, { recursive: true, force: true });
  try {
    await run('cp', ['-a', '--sparse=always', '--reflink=auto', '-T', '--', source, partial], signal);
    await fs.rename(partial, target);
  } catch (error) {
    await fs.rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

/** Copies what is inside `source` into the existing, empty folder `target`. */
export async function fillTree(source: string, target: string, signal: AbortSignal): Promise<void> {
  await run('cp', ['-a', '--sparse=always', '-T', '--', source, target], signal);
}

function run(program: string, args: string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { signal, timeout: COPY_LIMIT_MS, maxBuffer: 1 << 20 }, (error, _out, stderr) => {
      if (!error) return resolve();
      const last = stderr.trim().split('\n').at(-1) ?? '';
      const errno = /No space left/.test(stderr) ? 'ENOSPC' : 'TOOL';
      reject(new HostError(errno, program, `${program}: ${last || error.message}`));
    });
  });
}
