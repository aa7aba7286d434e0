import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { BackendName } from '../../backends/backend';
import type { Case } from '../../conformance/case';
import { connect, type Sockets } from '../../conformance/connection';
import type { Hints } from '../../conformance/hints';
import { type Result, type Run, runCases } from '../../conformance/run';
import { loadCsi } from '../../csi/load';
import { runDriver } from './run-driver';
import { textsOf } from './traces';

export interface ConformanceOptions {
  readonly cases: readonly Case[];
  /** Undefined: our own driver, in this process. */
  readonly sockets: Sockets | undefined;
  readonly own: {
    readonly backend: BackendName;
    readonly services: 'all' | 'node' | 'controller';
    readonly capabilities: string;
  };
  readonly hints: Hints;
  /** Words of the command that starts the driver: undefined where there is none. */
  readonly command: readonly string[] | undefined;
  /** Log files, and folders of records. */
  readonly traces: readonly string[];
  /** Where folders for staging and target paths are made. Undefined: a temporary one. */
  readonly targetDir: string | undefined;
  readonly timeoutMs: number;
  readonly sizeBytes: bigint;
  readonly told?: (result: Result) => void;
}

/** Of a longer one, a socket's path would have more than its 107 bytes. */
const LONGEST_TMPDIR = 60;

/** Puts cases and a driver together, and takes everything down. @throws Error, Unreachable */
export async function runConformance(options: ConformanceOptions): Promise<Run> {
  const { sockets, own, hints, cases, command, timeoutMs, sizeBytes, told } = options;
  const definitions = loadCsi();
  const root = Buffer.byteLength(tmpdir()) <= LONGEST_TMPDIR ? tmpdir() : '/tmp';
  const scratch = await fs.realpath(await fs.mkdtemp(path.join(root, 'fake-csi-')));
  const ours = sockets ? undefined : await ownDriver().startOwnDriver({ definitions, scratch, ...own });
  const reached = sockets ?? { socket: ours?.socket ?? '' };
  const connection = connect(reached, definitions);
  const folder = await targetFolder(options.targetDir, scratch);
  const traces = [...(ours?.traces ?? []), ...options.traces];
  try {
    return await runCases({
      connection,
      cases,
      hints: { ...ours?.hints, ...hints },
      folder,
      runId: path
        .basename(scratch)
        .replace(/^fake-csi-/, '')
        .toLowerCase(),
      socket: reached.socket,
      hasControllerSocket: reached.controllerSocket !== undefined,
      timeoutMs,
      sizeBytes,
      now: () => performance.now(),
      ...(command && { runDriver: (environment) => runDriver(command, environment) }),
      ...(traces.length > 0 && { readTraces: () => textsOf(traces) }),
      ...(told && { told }),
    });
  } finally {
    connection.close();
    await ours?.stop();
    await removeEmpty(folder);
    await removeUnmounted(scratch);
  }
}

const ownDriver = () => require('./own-driver') as typeof import('./own-driver');

async function targetFolder(named: string | undefined, scratch: string): Promise<string> {
  const folder = path.join(
    named === undefined ? scratch : path.resolve(named),
    path.basename(scratch),
    'targets',
  );
  await fs.mkdir(folder, { recursive: true });
  return fs.realpath(folder);
}

/** Cases clean up after themselves; what a driver did not let go of stays, and is told. */
async function removeEmpty(folder: string): Promise<void> {
  for (const each of [folder, path.dirname(folder)]) await fs.rmdir(each).catch(() => undefined);
}

/** A folder must never be emptied through a mount. */
async function removeUnmounted(scratch: string): Promise<void> {
  const mounts = await fs.readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  if (!mounts.includes(` ${scratch}/`)) await fs.rm(scratch, { recursive: true, force: true });
}
