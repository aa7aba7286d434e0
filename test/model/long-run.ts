import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import yargs from 'yargs';
import { BACKEND_NAMES, type BackendName } from '../../src/backends/backend';
import type { Host } from '../../src/host/host';
import { createLinuxHost } from '../../src/host/linux';
import { createMemoryHost } from '../../src/host/memory';
import { explore } from './explore';
import { groundOn } from './grounds';
import { show } from './operations';
import type { Tally } from './play';

const PROGRESS_MS = 10_000;

/** The long mode: as many calls as are asked for. @returns the exit code. */
export async function main(words: string[]): Promise<number> {
  const { calls, seed, backend, longest } = await yargs(words)
    .scriptName('model')
    .option('calls', { type: 'number', default: 100_000, describe: 'calls to make' })
    .option('seed', {
      type: 'number',
      default: Date.now() % 2 ** 31,
      describe: 'the same one gives the same sequences',
    })
    .option('backend', { choices: BACKEND_NAMES, default: 'memory' as const })
    .option('longest', { type: 'number', default: 40, describe: 'steps of a sequence' })
    .strict()
    .parse();
  const state = await fs.mkdtemp(path.join(await scratch(backend), 'fc-model-'));
  const host: Host =
    backend === 'memory'
      ? createMemoryHost()
      : createLinuxHost({ stateDir: state, cacheDir: path.join(tmpdir(), 'fake-csi-test-cache') });
  const began = performance.now();
  const seconds = () => Math.max(1, Math.round((performance.now() - began) / 1000));
  console.log(`model: backend ${backend}, seed ${seed}, ${calls} calls`);
  try {
    const machine = { host, backend, driver: { root: state } };
    const ground = await groundOn(host, backend, longest);
    const bounds = { seed, runs: Number.MAX_SAFE_INTEGER, calls, stop: told() };
    const { tally, failure } = await explore(machine, ground, { ...bounds, progress: teller(began) });
    for (const [answer, count] of [...tally.answers].sort())
      console.log(`${String(count).padStart(9)} ${answer}`);
    if (failure)
      console.log(
        `${failure.message}\n${failure.replay}\nsteps: ${failure.steps.map(show).join('\n       ')}`,
      );
    const rate = Math.round(tally.calls / seconds());
    const failed = failure ? 1 : 0;
    console.log(
      `${tally.calls} calls, ${tally.sequences + failed} sequences, ${failed} failed (${seconds()} s, ${rate} a second)`,
    );
    return failed;
  } finally {
    await fs.rm(state, { recursive: true, force: true });
  }
}

/** Whoever tells us to end has the counts, and nothing left behind. */
function told(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Says now and then how far it is, how fast it goes at the time, and what it holds. */
function teller(began: number): (done: Tally) => void {
  let shown = { at: began, calls: 0 };
  return ({ calls, sequences }) => {
    const at = performance.now();
    if (at - shown.at < PROGRESS_MS) return;
    const rate = Math.round((1000 * (calls - shown.calls)) / (at - shown.at));
    const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
    console.log(`${calls} calls, ${sequences} sequences, ${rate} a second, ${memory} MiB of memory`);
    shown = { at, calls };
  };
}

/** A model of mounts is as true in memory, where records cost least; real disks and mounts go where they usually do. */
async function scratch(backend: BackendName): Promise<string> {
  const memory = '/dev/shm';
  if (backend !== 'memory') return tmpdir();
  return fs.access(memory, fs.constants.W_OK).then(
    () => memory,
    () => tmpdir(),
  );
}
