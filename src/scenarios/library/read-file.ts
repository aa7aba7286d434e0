import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { errnoOf } from '../../util/files';
import type { Problem } from '../language';

const MAX_BYTES = 1024 * 1024;

/** The text of a scenario file, or why it has none. Nothing large or without an end is read. */
export function readScenarioFile(file: string): { text: string } | { problem: Problem } {
  const problem = (message: string) => ({
    problem: { file, line: 1, column: 1, path: '', message, severity: 'error' as const },
  });
  let fd: number;
  try {
    // A FIFO without a writer would keep an ordinary open waiting.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return problem(`cannot be opened: ${errnoOf(error)}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile())
      return problem(`expected a YAML file, found ${stat.isDirectory() ? 'a folder' : 'something else'}`);
    if (stat.size > MAX_BYTES)
      return problem(`expected at most 1 MiB of YAML, found ${Math.ceil(stat.size / MAX_BYTES)} MiB`);
    const bytes = readFileSync(fd);
    if (bytes.includes(0)) return problem('expected YAML text, found a binary file');
    return { text: bytes.toString('utf8') };
  } catch (error) {
    return problem(`cannot be read: ${errnoOf(error)}`);
  } finally {
    closeSync(fd);
  }
}
