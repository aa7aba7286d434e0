import { spawn } from 'node:child_process';
import { errnoOf } from '../../util/files';
import { HostError } from '../host';

/** The programs that are forked, and the package each comes in (Debian's names; the same on most distributions). */
export const TOOL_PACKAGES = {
  'mkfs.ext4': 'e2fsprogs',
  e2fsck: 'e2fsprogs',
  resize2fs: 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  'mkfs.btrfs': 'btrfs-progs',
} as const;

export type ToolName = keyof typeof TOOL_PACKAGES;

export interface ToolRun {
  args: readonly string[];
  timeoutMs: number;
  /** Exit codes that are success (default: 0 only). */
  success?: readonly number[];
  /** An open file the tool finds at /proc/self/fd/3: it needs no name then, and leaves nothing behind. */
  fd?: number;
}

export type RunTool = (tool: ToolName, run: ToolRun) => Promise<void>;

/** As much of the end of a tool's output as an error may draw from. */
const OUTPUT_CAP = 16 * 1024;

/** A driver's container may have been started without the sbin folders. */
const defaultSearchPath = () => `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`;

/**
 * Runs filesystem tools with no terminal and in the C locale; `searchPath` as in the environment variable PATH.
 * @throws HostError ENOENT (not installed), TIMEOUT (killed), TOOL (another exit code) with the tool's own last line.
 */
export function createToolRunner(searchPath = defaultSearchPath()): RunTool {
  return (tool, { args, timeoutMs, success = [0], fd }) =>
    new Promise((resolve, reject) => {
      const child = spawn(tool, args, {
        stdio: ['ignore', 'pipe', 'pipe', fd ?? 'ignore'],
        env: { ...process.env, LC_ALL: 'C', PATH: searchPath },
      });
      const stdout = new Tail();
      const stderr = new Tail();
      child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk));
      child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        // A process that waits for a hung disk does not die of SIGKILL either: nobody waits for its end.
        child.stdout?.destroy();
        child.stderr?.destroy();
        child.unref();
        const late = `${tool} did not finish within ${timeoutMs} ms and was killed (${args.at(-1)})`;
        reject(new HostError('TIMEOUT', tool, late));
      }, timeoutMs);
      child.on('error', (error) => {
        clearTimeout(timer);
        reject(spawnError(tool, error));
      });
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        if (code !== null && success.includes(code)) return resolve();
        const ended = code === null ? `was killed by ${signal}` : `exited with ${code}`;
        const words = lastWords(stderr.text()) || lastWords(stdout.text());
        reject(new HostError('TOOL', tool, words === '' ? `${tool} ${ended}` : `${tool} ${ended}: ${words}`));
      });
    });
}

function spawnError(tool: ToolName, error: Error): HostError {
  const errno = errnoOf(error) ?? 'EIO';
  if (errno !== 'ENOENT') return new HostError(errno, tool, `${tool} could not be started: ${error.message}`);
  return new HostError(
    'ENOENT',
    tool,
    `${tool} is not installed here; install the package ${TOOL_PACKAGES[tool]}`,
  );
}

/** The last line a tool wrote, before any usage text (mkfs.xfs sends a page of it after the one line that matters). */
export function lastWords(output: string): string {
  const usage = output.search(/^usage:/im);
  const lines = (usage < 0 ? output : output.slice(0, usage)).split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').at(-1) ?? '';
}

/** Keeps the last OUTPUT_CAP bytes of a stream: a tool may print without end. */
class Tail {
  private bytes = Buffer.alloc(0);

  add(chunk: Buffer): void {
    const all = Buffer.concat([this.bytes, chunk]);
    this.bytes = all.subarray(Math.max(0, all.length - OUTPUT_CAP));
  }

  text(): string {
    return this.bytes.toString('utf8');
  }
}
